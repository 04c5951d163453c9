import JSONText
import Synchronization
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("The account of a token")
struct OtherAccountTests {
    /// Two tokens, the second possibly of another account; the first is refused after its account was requested.
    private func upstream(_ accounts: [String: String]) throws -> (HTTPUpstream, ScriptedTransport) {
        let asked = Mutex(false)
        return try upstream { token in
            if token == "first", asked.withLock({ $0 }) { return HTTPResponse.json(401, "{}") }
            asked.withLock { $0 = true }
            return HTTPResponse.json(200, "{\"id\":\"\(accounts[token] ?? "")\"}")
        }
    }

    private func upstream(
        _ answer: @escaping @Sendable (_ token: String) -> HTTPResponse
    ) throws -> (HTTPUpstream, ScriptedTransport) {
        let schema = try EntitySchema(
            yaml: """
                schema: test
                upstream: { base_url: "http://localhost", account: { path: /me, id: id }, pagination: { style: page } }
                entities:
                  orders:
                    fields: { id: { type: string } }
                    pull: { path: /orders }
                    push: { create: { call: POST /orders } }
                """, file: "test.yaml")
        let transport = ScriptedTransport { (request) throws(TransportError) in
            answer(request.header("Authorization").map { String($0.dropFirst("Bearer ".count)) } ?? "")
        }
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: transport, token: TwoTokens(), now: { Timestamp(milliseconds: 0) })
        return (upstream, transport)
    }

    private let change = PushRequest(
        method: "POST", path: "/orders", body: JSONText.object(["id": "a"]), record: .itself)

    @Test("nothing is sent with a new token of another account")
    func other() async throws {
        let (upstream, transport) = try upstream(["first": "one", "second": "two"])
        #expect(try await upstream.account()?.id == "one")
        for _ in 0..<2 {
            await #expect {
                _ = try await upstream.push(change, idempotencyKey: "k")
            } throws: { error in
                if case .unauthorized = error as? UpstreamError { true } else { false }
            }
        }
        let sent = transport.requests.filter { $0.method == "POST" && $0.header("Authorization") == "Bearer second" }
        #expect(sent.isEmpty)
        // After asking for the account again, the new token is used.
        #expect(try await upstream.account()?.id == "two")
        _ = try await upstream.push(change, idempotencyKey: "k")
    }

    @Test("a token that stands for another account than before is not confirmed")
    func switched() async throws {
        let account = Mutex("one")
        let (upstream, _) = try upstream { _ in HTTPResponse.json(200, "{\"id\":\"\(account.withLock { $0 })\"}") }
        #expect(try await upstream.account()?.id == "one")
        try await upstream.confirmToken()
        account.withLock { $0 = "two" }
        await #expect {
            try await upstream.confirmToken()
        } throws: { error in
            if case .unauthorized(let message) = error as? UpstreamError { message.contains("(two)") } else { false }
        }
    }

    @Test("a new token of the same account is checked once and then used")
    func same() async throws {
        let (upstream, transport) = try upstream(["first": "one", "second": "one"])
        #expect(try await upstream.account()?.id == "one")
        _ = try await upstream.push(change, idempotencyKey: "k")
        _ = try await upstream.push(change, idempotencyKey: "l")
        let targets = transport.requests.map { "\($0.method) \($0.header("Authorization")?.dropFirst(7) ?? "")" }
        #expect(targets == ["GET first", "POST first", "GET second", "POST second", "POST second"])
    }
}

/// A token that is renewed once.
private final class TwoTokens: Credentials {
    private let token = Mutex("first")

    func current() -> String? { token.withLock { $0 } }

    func renew(refused: String?) -> Bool {
        token.withLock { token in
            token = "second"
            return token != refused
        }
    }
}
