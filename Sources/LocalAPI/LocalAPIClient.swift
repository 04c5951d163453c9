package import JSONText

/// A client of the local API, over any transport. The command uses it to call the daemon.
package struct LocalAPIClient: Sendable {
    /// Sends one request and returns the complete response, whatever its status; throws `.unreachable` when none came.
    package typealias Transport = @Sendable (LocalAPIRequest) async throws(LocalAPIError) -> LocalAPIResponse

    /// The most values of an answer. Each takes more memory than its text once it is looked at, and root, who may be the
    /// caller, must not give a compromised daemon gigabytes. A page of 4 MiB has a tenth.
    static let mostValues = 1_000_000

    private let token: String?
    private let transport: Transport

    /// `token` is sent with every request; nil if the daemon identifies the caller by its user.
    package init(token: String? = nil, transport: @escaping Transport) {
        self.token = token
        self.transport = transport
    }

    /// The answer of a call that succeeded.
    package struct Answer: Sendable, Equatable {
        /// 200 to 299.
        package var status: Int
        /// Nil if the answer has no body (204).
        package var body: JSONText?
        /// The path of a created record.
        package var location: String?
        /// The version of a record.
        package var tag: String?
        /// Whether an earlier call with the same `Idempotency-Key` got it, so that this one has changed nothing.
        package var isReplayed = false

        package init(status: Int, body: JSONText?, location: String? = nil, tag: String? = nil) {
            self.status = status
            self.body = body
            self.location = location
            self.tag = tag
        }
    }

    package typealias Query = [(name: String, value: String)]
    package typealias Headers = [(name: String, value: String)]

    package func get(_ path: String, query: Query = []) async throws(LocalAPIError) -> Answer {
        try await send("GET", path, query, [], body: nil)
    }

    package func post(
        _ path: String, query: Query = [], headers: Headers = [], body: JSONText? = nil
    ) async throws(LocalAPIError) -> Answer {
        try await send("POST", path, query, headers, body: body)
    }

    package func patch(
        _ path: String, query: Query = [], headers: Headers = [], body: JSONText
    ) async throws(LocalAPIError) -> Answer {
        try await send("PATCH", path, query, headers, body: body)
    }

    package func delete(_ path: String, query: Query = []) async throws(LocalAPIError) -> Answer {
        try await send("DELETE", path, query, [], body: nil)
    }

    private func send(
        _ method: String, _ path: String, _ query: Query, _ headers: Headers, body: JSONText?
    ) async throws(LocalAPIError) -> Answer {
        var request = LocalAPIRequest(
            method: method, target: path + Self.encoded(query), headers: headers, body: body.map { Array($0.bytes) })
        request.headers.append(("Accept", "application/json"))
        // The daemon refuses a write of any other type, even one without a body, to keep web pages out.
        if method != "GET" { request.headers.append(("Content-Type", "application/json")) }
        let response = try await answer(to: request)
        let body = response.body.isEmpty ? nil : try? JSONText(response.body[...], atMost: Self.mostValues)
        guard (200..<300).contains(response.status) else {
            if let problem = body.flatMap({ LocalAPIProblem($0, status: response.status) }) { throw .problem(problem) }
            throw .unexpected("\(method) \(path) answered \(response.status) without a reason; is this the daemon?")
        }
        guard response.body.isEmpty || body != nil else {
            throw .unexpected(
                "\(method) \(path) answered something that is not JSON, or more than \(Self.mostValues) values; is this "
                    + "the daemon?")
        }
        var answer = Answer(status: response.status, body: body, location: response.location, tag: response.tag)
        answer.isReplayed = response.isReplayed
        return answer
    }

    /// Any request, with the token: the answer as it is, whatever its status.
    package func answer(to request: LocalAPIRequest) async throws(LocalAPIError) -> LocalAPIResponse {
        var request = request
        if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
        return try await transport(request)
    }

    private static func encoded(_ query: Query) -> String {
        guard !query.isEmpty else { return "" }
        let items = query.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
        return "?" + items.joined(separator: "&")
    }
}

package struct LocalAPIRequest: Sendable {
    package var method: String
    /// Path and query, encoded.
    package var target: String
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]?

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

package struct LocalAPIResponse: Sendable, Equatable {
    package var status: Int
    package var body: [UInt8]
    /// The header field `Location`.
    package var location: String?
    /// The header field `ETag`.
    package var tag: String?
    /// The header field `Idempotent-Replayed`.
    package var isReplayed = false

    package init(status: Int, body: [UInt8] = [], location: String? = nil, tag: String? = nil) {
        self.status = status
        self.body = body
        self.location = location
        self.tag = tag
    }
}
