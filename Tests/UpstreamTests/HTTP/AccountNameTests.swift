import EntitySchema
import TestSupport
import Testing

@testable import Upstream

@Suite("What the upstream answers about the account")
struct AccountNameTests {
    private func upstream(answering id: String, _ name: String) throws -> HTTPUpstream {
        let schema = try EntitySchema(
            yaml: """
                schema: test
                upstream: { base_url: "http://localhost", account: { path: /me, id: id, name: "{name}" } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "test.yaml")
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"\#(id)","name":"\#(name)"}"#) }
        return HTTPUpstream(plan: schema.upstream, transport: transport)
    }

    @Test("a name is cut if it is endless")
    func endlessName() async throws {
        let upstream = try upstream(answering: "me", String(repeating: "N", count: 100_000))
        let account = try #require(try await upstream.account())
        #expect(account.id == "me")
        #expect(account.name?.count == 500)
    }

    @Test(
        "it is shown with the names that the answer has: of the person and of the account",
        arguments: [
            (nil, nil, "c7"), ("Ada", nil, "Ada (c7)"), (nil, "Fix It", "Fix It (c7)"),
            ("Ada", "Fix It", "Ada (Fix It)"),
        ] as [(String?, String?, String)])
    func shown(name: String?, title: String?, text: String) {
        #expect(SignedInAccount(id: "c7", name: name, title: title).shown == text)
    }

    @Test("what people call the account is in the place that the schema names")
    func title() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: test
                upstream: { base_url: "http://localhost", account: { path: /me, id: id, title: "{company.name}" } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "test.yaml")
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"c7","company":{"name":"Fix It"}}"#) }
        let account = try await HTTPUpstream(plan: schema.upstream, transport: transport).account()
        #expect(account == SignedInAccount(id: "c7", title: "Fix It"))
    }

    @Test("an id that no message has room for is refused")
    func endlessID() async throws {
        let upstream = try upstream(answering: String(repeating: "i", count: 1001), "")
        let error = await #expect(throws: UpstreamError.self) { _ = try await upstream.account() }
        #expect(error?.message.contains("more than 1000 bytes") == true)
        #expect(try await self.upstream(answering: String(repeating: "i", count: 1000), "").account() != nil)
    }
}
