import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("OAuth with a stored refresh token", .timeLimit(.minutes(10)))
struct OAuthRefreshTests {
    private static let schema = """
        schema: shop
        upstream:
          base_url: https://shop.example
          account: { path: /me, id: id }
          auth: { refresh: { token_url: https://login.example/token } }
        entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
        """

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (name, text) in [("client_id", "me"), ("client_secret", "s"), ("refresh_token", "r0")] {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            #expect(
                FileManager.default.createFile(
                    atPath: folder.path(name), contents: Data(text.utf8), attributes: attributes))
        }
    }

    @Test("the first exchange sends the stored token, the next one the one that was given for it, as a form")
    func rotates() async throws {
        let exchanges = Exchanges()
        let transport = ScriptedTransport { request throws(TransportError) in
            guard request.url != "https://login.example/token" else { return exchanges.answer(request) }
            let isGood = request.header("Authorization") == "Bearer \(exchanges.access)"
            return isGood ? HTTPResponse.json(200, #"{"id":"me"}"#) : HTTPResponse.json(401, "{}")
        }
        let plan = try EntitySchema(yaml: Self.schema, file: "shop.yaml").upstream
        let names = ["client_id", "client_secret", "refresh_token"]
        let secrets = SecretFiles(paths: Dictionary(uniqueKeysWithValues: names.map { ($0, folder.path($0)) }))
        let store = TokenStore(path: folder.path("tokens.json"))
        let access = UpstreamAccess(plan: plan, transport: transport, secrets: secrets, now: { .sample })
        for round in 1...3 {
            // As after a restart.
            let upstream = HTTPUpstream(access, token: RotatingToken(access, store: store))
            #expect(try await upstream.account()?.id == "me")
            #expect(exchanges.count == round)
            #expect(try store.load()?.refresh == "r\(round)")
            exchanges.revoke()
        }
        let sent = transport.requests.filter { $0.url.hasPrefix("https://login.example") }
        #expect(sent.allSatisfy { $0.header("Content-Type") == "application/x-www-form-urlencoded" })
        #expect(sent.allSatisfy { $0.header("Authorization") == "Basic bWU6cw==" })
    }

    /// A server that takes each refresh token once.
    private final class Exchanges: Sendable {
        private let state = Mutex((count: 0, isRevoked: false))

        var count: Int { state.withLock { $0.count } }
        var access: String { state.withLock { $0.isRevoked ? "none" : "a\($0.count)" } }

        func revoke() { state.withLock { $0.isRevoked = true } }

        func answer(_ request: HTTPRequest) -> HTTPResponse {
            let count = state.withLock { state in
                let expected = "grant_type=refresh_token&refresh_token=r\(state.count)"
                guard request.body.map({ String(decoding: $0, as: UTF8.self) }) == expected else { return 0 }
                state = (state.count + 1, false)
                return state.count
            }
            guard count > 0 else { return HTTPResponse.json(400, #"{"error":"invalid_grant"}"#) }
            return HTTPResponse.json(
                200, #"{"access_token":"a\#(count)","refresh_token":"r\#(count)","expires_in":1800}"#)
        }
    }
}
