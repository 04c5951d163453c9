import Foundation
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("A sign-out", .timeLimit(.minutes(10)))
struct SignOutTests {
    private let folder: TemporaryFolder
    private let store: TokenStore

    init() throws {
        folder = try TemporaryFolder()
        store = TokenStore(path: folder.path("tokens.json"))
    }

    /// `good` are the access tokens that count.
    private func transport(good: Set<String>, refresh: HTTPResponse? = nil) -> ScriptedTransport {
        ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/token") { return refresh ?? .json(401, "{}") }
            let token = request.header("Authorization")?.dropFirst("Bearer ".count) ?? ""
            return good.contains(String(token)) ? HTTPResponse(status: 204) : .json(401, #"{"error":"\#(token)"}"#)
        }
    }

    private func signOut(
        _ transport: ScriptedTransport, editing edit: (String) -> String = { $0 }
    ) async throws -> SignOut.Revocation? {
        let plan = try EntitySchema(yaml: edit(Self.schema), file: "shop.yaml").upstream
        return try await SignOut(UpstreamAccess(plan: plan, transport: transport, now: { .sample }), store: store).run()
    }

    @Test("removes the file and has the upstream revoke the token")
    func revokes() async throws {
        try store.save(Tokens(access: "a", refresh: "r"))
        let transport = transport(good: ["a"])
        #expect(try await signOut(transport) == .done)
        #expect(try store.load() == nil)
        let sent = try #require(transport.requests.first)
        #expect(transport.requests.count == 1 && sent.method == "POST" && sent.url == "https://shop.example/logout")
        #expect(sent.header("Authorization") == "Bearer a" && sent.body == nil)
    }

    @Test("without a stored sign-in sends nothing")
    func nothing() async throws {
        let transport = transport(good: [])
        #expect(try await signOut(transport) == nil)
        #expect(transport.requests.isEmpty)
    }

    @Test("of an expired access token revokes the refresh token, which is then not stored")
    func expired() async throws {
        try store.save(Tokens(access: "old", refresh: "r"))
        let transport = transport(good: ["new"], refresh: .json(200, #"{"token":"new","refresh":"r2"}"#))
        #expect(try await signOut(transport) == .done)
        #expect(transport.requests.map { $0.url.split(separator: "/").last } == ["logout", "token", "logout"])
        #expect(transport.requests.last?.header("Authorization") == "Bearer new")
        #expect(try store.load() == nil)
    }

    @Test("of a sign-in that has ended upstream already is done")
    func ended() async throws {
        try store.save(Tokens(access: "old", refresh: "r"))
        #expect(try await signOut(transport(good: [])) == .done)
        #expect(try store.load() == nil)
    }

    @Test("that the upstream does not confirm still removes the file, and says so without the token")
    func failures() async throws {
        let answers: [ScriptedTransport] = [
            ScriptedTransport { _ throws(TransportError) in throw .unreachable("no network") },
            ScriptedTransport { _ in .json(500, #"{"error":"cannot revoke secret-token"}"#) },
            ScriptedTransport { _ in .json(404, "{}") },
        ]
        for transport in answers {
            try store.save(Tokens(access: "secret-token"))
            guard case .failed(let reason) = try await signOut(transport) else {
                Issue.record("it was taken for a success")
                continue
            }
            #expect(!reason.isEmpty && !reason.contains("secret-token"), "\(reason)")
            #expect(try store.load() == nil)
        }
    }

    @Test("of a file that is no saved sign-in removes it and sends nothing")
    func unusable() async throws {
        try PrivateFile(path: store.path).write([0x7B])
        let transport = transport(good: [])
        guard case .failed = try await signOut(transport) else {
            Issue.record("it was taken for a success")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: store.path) && transport.requests.isEmpty)
    }

    @Test("without auth.logout in the schema only removes the file")
    func notOffered() async throws {
        try store.save(Tokens(access: "a"))
        let transport = transport(good: ["a"])
        #expect(try await signOut(transport) { $0.replacing("    logout: /logout\n", with: "") } == .notOffered)
        #expect(try store.load() == nil && transport.requests.isEmpty)
    }

    @Test("also ends what a daemon saved meanwhile")
    func meanwhile() async throws {
        try store.save(Tokens(access: "a", refresh: "r"))
        let transport = ScriptedTransport { [store] request throws(TransportError) in
            if request.header("Authorization") == "Bearer a" { try? store.save(Tokens(access: "b", refresh: "r2")) }
            return HTTPResponse(status: 204)
        }
        #expect(try await signOut(transport) == .done)
        #expect(transport.requests.map { $0.header("Authorization") } == ["Bearer a", "Bearer b"])
        #expect(try store.load() == nil)
    }

    private static let schema = """
        schema: shop
        upstream:
          base_url: https://shop.example
          auth:
            refresh: { path: /token, send: refreshToken, token: token, refresh_token: refresh }
            logout: /logout
        entities:
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders, pagination: { style: single } }
        """
}
