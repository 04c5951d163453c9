internal import JSONText
internal import Synchronization
package import Upstream

/// Calls the JSON gateway of an etcd cluster (version 3.4 and later), one member after the other until one answers.
package final class EtcdGateway: Sendable {
    /// A user of etcd.
    package struct User: Sendable, Equatable {
        package var name: String
        package var password: String

        package init(name: String, password: String) {
            self.name = name
            self.password = password
        }
    }

    private struct State {
        /// The member that answered last, which is asked first.
        var first = 0
        var token: String?
    }

    private let members: [String]
    private let user: User?
    private let transport: any HTTPTransport
    /// For one member's answer.
    private let patience: Duration
    private let state = Mutex(State())

    /// Fifty entries of the size that etcd takes at most, as base64.
    package static let largestAnswer = 128 << 20
    /// Fifty entries have some hundred. Looking at millions would take gigabytes.
    private static let mostValues = 10_000
    /// In bytes of etcd's words about a failure.
    private static let longestMessage = 500

    package init(_ settings: StandbySettings, user: User? = nil, transport: any HTTPTransport) {
        members = settings.members
        patience = settings.patience
        self.user = user
        self.transport = transport
    }

    /// Returns the answer's body. A call must do no harm when it is carried out twice: a member may do so and not answer,
    /// and the next one is asked.
    func call(_ path: String, _ body: JSONText) async throws(StandbyError) -> JSONText {
        if user != nil, state.withLock({ $0.token }) == nil { try await signIn() }
        if let answer = await answer(path, body) { return try answer.get() }
        // A token lasts minutes.
        try await signIn()
        guard let answer = await answer(path, body) else { throw Self.tokenRefused }
        return try answer.get()
    }

    private static let tokenRefused = StandbyError.refused("etcd does not accept the user and password, or wants them")

    private func signIn() async throws(StandbyError) {
        guard let user else { throw Self.tokenRefused }
        state.withLock { $0.token = nil }
        let body = JSONText.object(["name": .string(user.name), "password": .string(user.password)])
        guard let answer = await answer("/v3/auth/authenticate", body) else { throw Self.tokenRefused }
        let token = try answer.get()["token"]?.string
        state.withLock { $0.token = token }
    }

    /// Nil if etcd does not accept the token, or asks for one.
    private func answer(_ path: String, _ body: JSONText) async -> Result<JSONText, StandbyError>? {
        let first = state.withLock { $0.first }
        var reasons: [String] = []
        for offset in members.indices {
            let index = (first + offset) % members.count
            let response: HTTPResponse
            do throws(TransportError) {
                response = try await transport.send(request(members[index], path, body))
            } catch .cancelled {
                return .failure(.cancelled)
            } catch {
                reasons.append(error.reason)
                continue
            }
            let answer = try? JSONText(response.body[...], atMost: Self.mostValues)
            if response.status == 200, let answer {
                state.withLock { $0.first = index }
                return .success(answer)
            }
            let said = answer?["message"]?.string?.cut(toBytes: Self.longestMessage)
            let message = said ?? "status \(response.status)"
            let code = answer?["code"]?.integer
            if code == Self.unauthenticated || Self.oldTokens.contains(where: message.contains) { return nil }
            guard Self.isPassing(response.status, code) else { return .failure(.refused(message)) }
            reasons.append("\(members[index]): \(message)")
        }
        return .failure(.unanswered(reasons.joined(separator: "; ")))
    }

    private static let unauthenticated = 16
    /// How etcd says that the token is missing, or older than a change of users and roles.
    private static let oldTokens = ["user name is empty", "auth store is old"]

    /// Whether another member may do better: no leader, a time limit, a member that stops (1, 4, 13 and 14 of gRPC).
    private static func isPassing(_ status: Int, _ code: Int?) -> Bool {
        status >= 500 || [1, 4, 13, 14].contains(code ?? 0)
    }

    private func request(_ member: String, _ path: String, _ body: JSONText) -> HTTPRequest {
        var headers = [HTTPHeader("Content-Type", "application/json")]
        if let token = state.withLock({ $0.token }) { headers.append(HTTPHeader("Authorization", token)) }
        return HTTPRequest(
            method: "POST", url: member + path, headers: headers, body: Array(body.bytes), deadline: patience,
            maximumBody: Self.largestAnswer)
    }
}
