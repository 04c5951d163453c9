import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

/// `auth.check`: a token that expires into empty answers.
@Suite("A check of the token", .timeLimit(.minutes(10)))
struct TokenCheckTests {
    private let folder: TemporaryFolder
    private let server = TokenServer()
    private let schema: EntitySchema

    init() throws {
        folder = try TemporaryFolder()
        schema = try EntitySchema(yaml: TokenServer.schema, file: "shop.yaml")
        #expect(
            FileManager.default.createFile(
                atPath: folder.path("password"), contents: Data("right".utf8), attributes: [.posixPermissions: 0o600]))
    }

    private func upstream(_ path: String? = "/me") throws -> HTTPUpstream {
        var plan = schema.upstream
        if let path { plan.check?.path = path } else { plan.check = nil }
        let (transport, now) = (server.transport, { @Sendable [server] in server.now })
        let access = UpstreamAccess(
            plan: plan, transport: transport, secrets: SecretFiles(paths: ["password": folder.path("password")]),
            now: now)
        return HTTPUpstream(access, token: RotatingToken(access, store: TokenStore(path: folder.path("tokens.json"))))
    }

    private func orders(_ upstream: HTTPUpstream) async throws -> Int {
        let list = ListPlan(style: .single, pageSize: 100, records: .itself)
        return try await upstream.page(PageRequest(path: "/orders", list: list)).count
    }

    @Test(
        "an empty list is read again with another token, if the check names no account or fails",
        arguments: ["/me", "/strict"])
    func emptyList(_ path: String) async throws {
        let upstream = try upstream(path)
        #expect(try await orders(upstream) == 2)
        #expect(server.calls(path).isEmpty, "nothing to wonder about")
        server.revoke()
        #expect(try await orders(upstream) == 2)
        #expect(server.calls("/sign-in").count == 2 && server.calls(path).count == 1)
    }

    @Test("an empty list is believed when the check names the account")
    func reallyEmpty() async throws {
        server.state.withLock { $0.orders = [] }
        let upstream = try upstream()
        #expect(try await orders(upstream) == 0)
        #expect(server.calls("/me").count == 1 && server.calls("/sign-in").count == 1)
    }

    @Test("a record that is gone is asked for again")
    func record() async throws {
        let upstream = try upstream()
        _ = try await orders(upstream)
        let orders = try #require(schema["orders"])
        server.revoke()
        #expect(try await upstream.record(of: orders, known: .object(["id": "o1"])) != nil)
        #expect(try await upstream.record(of: orders, known: .object(["id": "o9"])) == nil)
    }

    @Test("an edit that is refused and a deletion of what is gone are sent again")
    func changes() async throws {
        let upstream = try upstream()
        _ = try await orders(upstream)
        server.revoke()
        let edit = PushRequest(entity: "orders", method: "PATCH", path: "/orders/o1", body: .object(["name": "n"]))
        guard case .record = try await upstream.push(edit, idempotencyKey: "k1") else { return unexpected() }
        server.revoke()
        let deletion = PushRequest(entity: "orders", method: "DELETE", path: "/orders/o1", body: nil)
        _ = try await upstream.push(deletion, idempotencyKey: "k2")
        #expect(server.state.withLock { $0.orders } == ["o2"])
        await #expect(throws: UpstreamError.self) { try await upstream.push(deletion, idempotencyKey: "k3") }
        #expect(server.calls("/sign-in").count == 3)
    }

    @Test("nothing is believed while the upstream cannot say whether the token counts")
    func cannotSay() async throws {
        let upstream = try upstream()
        _ = try await orders(upstream)
        server.revoke()
        server.state.withLock { $0.answers["/me"] = HTTPResponse(status: 503) }
        await #expect(throws: UpstreamError.self) { try await orders(upstream) }
        server.state.withLock { $0.answers = [:] }
        #expect(try await orders(upstream) == 2)
    }

    /// Expects an edit whose answer is unclear to stay so while the check of the token is answered with this.
    private func expectUnclear(check: HTTPResponse) async throws {
        let upstream = try upstream()
        _ = try await orders(upstream)
        server.state.withLock { state in
            state.answers["/orders/o1"] = .json(200, "[]")
            state.answers["/me"] = check
        }
        let edit = PushRequest(entity: "orders", method: "PATCH", path: "/orders/o1", body: .object(["name": "n"]))
        let error = await #expect(throws: UpstreamError.self) {
            _ = try await upstream.push(edit, idempotencyKey: "k1")
        }
        // A throttled change would be sent again without a look.
        #expect(error?.wordless == .unclear(status: 200, ""))
    }

    @Test("a change whose answer is unclear stays so while the upstream cannot say whether the token counts")
    func unclearChange() async throws {
        try await expectUnclear(check: HTTPResponse(status: 429))
        #expect(server.calls("/me").count == 1 && server.calls("/orders/o1").count == 1)
    }

    @Test("a change whose answer is unclear is sent twice at most, even if the check objects to every token")
    func wrongCheck() async throws {
        try await expectUnclear(check: .json(200, "{}"))
        #expect(server.calls("/orders/o1").count == 2)
    }

    @Test("a token that does not count even when it is new is refused, and says what the check said")
    func neverCounts() async throws {
        server.state.withLock { state in
            state.orders = []
            state.answers["/me"] = .json(200, "{}")
        }
        let upstream = try upstream()
        let error = await #expect(throws: UpstreamError.self) { try await orders(upstream) }
        #expect(error?.wordless == .unauthorized(""))
        #expect(error?.message.contains("GET /me names no account at id") == true)
        #expect(server.calls("/sign-in").count == 2)
    }

    @Test("an error that bars every request names auth.check if the schema has none", arguments: [200, 302, 403])
    func withoutCheck(_ status: Int) async throws {
        let page = HTTPResponse.json(status, "<html><title>Sign in</title>", [HTTPHeader("Location", "/sign-in.html")])
        let edit = PushRequest(entity: "orders", method: "PATCH", path: "/orders/o1", body: .object(["name": "n"]))
        let entity = try #require(schema["orders"])
        server.state.withLock { state in for path in ["/orders", "/orders/o1"] { state.answers[path] = page } }
        for path in ["/me", nil] {
            let upstream = try upstream(path)
            let errors = [
                await #expect(throws: UpstreamError.self) { try await orders(upstream) },
                await #expect(throws: UpstreamError.self) {
                    try await upstream.record(of: entity, known: .object(["id": "o1"]))
                },
                await #expect(throws: UpstreamError.self) { try await upstream.push(edit, idempotencyKey: "k1") },
            ]
            for error in errors {
                let message = try #require(error).message
                #expect(message.contains("set upstream.auth.check in the schema") == (path == nil), "\(message)")
            }
        }
    }

    @Test("requests that wonder at the same time share checks")
    func shared() async throws {
        server.state.withLock { $0.orders = [] }
        let upstream = try upstream()
        _ = try await orders(upstream)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try? await orders(upstream) } }
        }
        #expect(server.calls("/me").count < 51)
        #expect(server.calls("/sign-in").count == 1)
    }

    private func unexpected() {
        Issue.record("it went another way")
    }
}
