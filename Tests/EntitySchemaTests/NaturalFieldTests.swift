import Testing

@testable import EntitySchema

@Suite("Natural keys in a schema")
struct NaturalFieldTests {
    private func entity(_ field: String) throws -> Entity? {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost, pagination: { style: page } }
            entities:
              orders:
                fields:
                  id: { type: string }
                  number: \(field)
                pull: { path: /orders }
            """
        return try EntitySchema(yaml: yaml, file: "shop.yaml")["orders"]
    }

    @Test("a natural field has an index, and names a record as field:value")
    func natural() throws {
        let orders = try #require(try entity("{ type: string, natural: true }"))
        #expect(orders.naturalFields.map(\.name) == ["number"])
        #expect(orders[field: "number"]?.indexed == true)
        #expect(orders.naturalKey(in: "number:a:b")?.value == "a:b")
        #expect(orders.naturalKey(in: "id:a") == nil)
        #expect(orders.naturalKey(in: "number") == nil)
        // `number:$NUMBER` of a script whose variable is not set must not name a record with an empty value.
        #expect(orders.naturalKey(in: "number:") == nil)
        #expect(try entity("{ type: string, natural: false }")?.naturalFields.isEmpty == true)
    }

    @Test(
        "only plain text and whole numbers can be natural",
        arguments: [
            "{ type: money, natural: true }", "{ type: string, natural: true, secret: true }",
            "{ type: string, natural: true, derive: { text: '{id}' } }",
        ])
    func refused(field: String) {
        let error = #expect(throws: SchemaError.self) { _ = try entity(field) }
        #expect(error.map { "\($0)" }?.contains("can be natural") == true)
    }
}
