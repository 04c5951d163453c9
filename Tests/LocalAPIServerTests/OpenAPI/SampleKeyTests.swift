import JSONText
import Testing

@testable import LocalAPIServer

@Suite("Sample keys of the description")
struct SampleKeyTests {
    private static func example(of entity: String) async throws -> JSONText {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  pagination: { style: page }
                entities:
                  clients:
                    fields: { id: { type: integer }, name: { type: string } }
                    pull: { path: /clients }
                  accounts:
                    key: client_id
                    fields: { client_id: { type: reference, to: clients } }
                    pull: { path: /accounts }
                  orders:
                    key: { field: id, made: "[a-z0-9]{15}" }
                    fields:
                      id: { type: string }
                      client_id: { type: reference, to: clients }
                      account_id: { type: reference, to: accounts }
                    pull: { path: /orders }
                """)
        let document = await api.call("GET", "/openapi.json").json
        let schema = document.at(path: "components.schemas")?["\(entity).record"]
        return try #require(schema?["examples"]?.elements.first)
    }

    @Test("a key that is a number has a number as its example")
    func numbers() async throws {
        #expect(try await Self.example(of: "clients")["id"]?.kind == .number)
    }

    @Test("a reference, and a key that is a reference, have what the other's key is")
    func references() async throws {
        #expect(try await Self.example(of: "accounts")["client_id"]?.kind == .number)
        let order = try await Self.example(of: "orders")
        #expect(order["client_id"]?.kind == .number && order["account_id"]?.kind == .number)
    }

    @Test("a key of a form of its own has an example of that form")
    func forms() async throws {
        let key = try await Self.example(of: "orders")["id"]?.string ?? ""
        #expect(key.wholeMatch(of: /[a-z0-9]{15}/) != nil, "\(key)")
    }
}
