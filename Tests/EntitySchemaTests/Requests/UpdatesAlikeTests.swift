import Testing

@testable import EntitySchema

@Suite("Updates that are sent alike")
struct UpdatesAlikeTests {
    private static func isAlike(_ orders: String) throws -> Bool? {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    key: id
                    fields:
                      id: { type: string }
                      status: { type: string }
                      shop: { type: string }
                    pull: { path: /orders }
                \(orders.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
                """, file: "shop.yaml")
        return schema["orders"]?.sendsUpdatesAlike
    }

    @Test("are those of an entity with routes without conditions whose paths have the key alone")
    func alike() throws {
        #expect(try Self.isAlike(#"push: { update: { call: "PATCH /orders/{id}", fields: [status] } }"#) == true)
    }

    @Test(
        "are not those whose request, path or turn depends on the record",
        arguments: [
            #"push: { update: { call: "PATCH /shops/{shop}/orders/{id}" } }"#,
            #"push: { update: [{ call: "PUT /orders/{id}", when: { status: new } }, { call: "PATCH /orders/{id}" }] }"#,
            "push: { update: { call: \"PATCH /orders/{id}\" } }\norder_within: shop",
            "push: { create: { call: POST /orders } }",
        ])
    func unlike(_ orders: String) throws {
        #expect(try Self.isAlike(orders) == false)
    }
}
