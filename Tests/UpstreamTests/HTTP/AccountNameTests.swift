import EntitySchema
import TestSupport
import Testing

@testable import Upstream

@Suite("The name of the account")
struct AccountNameTests {
    @Test("is cut if it is endless")
    func endless() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: test
                upstream: { base_url: "http://localhost", account: { path: /me, id: id, name: "{name}" } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "test.yaml")
        let name = String(repeating: "N", count: 100_000)
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, "{\"id\":\"me\",\"name\":\"\(name)\"}") }
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: transport, token: nil, now: { Timestamp.sample })
        let account = try #require(try await upstream.account())
        #expect(account.id == "me")
        #expect(account.name?.count == 500)
    }
}
