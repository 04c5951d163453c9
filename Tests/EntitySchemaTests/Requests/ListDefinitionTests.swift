import Testing

@testable import EntitySchema

@Suite("The definition of a list")
struct ListDefinitionTests {
    private func definition(
        _ pull: String = "path: /orders, since: { param: since, field: updated }", paging: String = "{ style: page }",
        fields: String = "id: { type: string }, updated: { type: time }, changed: { type: time }"
    ) throws -> String {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost", pagination: \(paging) }
                entities:
                  orders:
                    fields: { \(fields) }
                    pull: { \(pull) }
                """, file: "shop.yaml")
        return try #require(schema["orders"]?.pull).definition
    }

    @Test(
        "differs if the list is asked for in another way, or its changes are found elsewhere",
        arguments: [
            "path: /all, since: { param: since, field: updated }",
            "path: /orders, query: { state: open }, since: { param: since, field: updated }",
            "path: /orders, query: { state: closed }, since: { param: since, field: updated }",
            "path: /orders, records: data, since: { param: since, field: updated }",
            "path: /orders, since: { param: after, field: updated }",
            "path: /orders, since: { param: since, field: changed }",
            "path: /orders, since: { param: since, field: updated, format: epoch }",
            "path: /orders, since: { param: since, field: updated }, deleted: gone",
            "path: /orders",
            "call: POST /orders, body: { page: '{$page}', after: '{$since}' }, since: { field: updated }",
            "call: POST /orders, body: { page: '{$page}', from: '{$since}' }, since: { field: updated }",
        ])
    func differs(_ pull: String) throws {
        #expect(try definition(pull) != definition())
        #expect(try definition(pull) == definition(pull))
    }

    @Test("differs if the list is paged in another way")
    func paging() throws {
        let all = [
            "{ style: page }", "{ style: single }", "{ style: offset, offset: skip }", "{ style: page, page_size: 50 }",
            "{ style: cursor, cursor: after, next: { last: id } }", "{ style: page, total: total }",
        ]
        #expect(try Set(all.map { try definition(paging: $0) }).count == all.count)
    }

    @Test("is the same for other fields")
    func fields() throws {
        let fields = "id: { type: string }, updated: { type: time, index: true }, note: { type: string }"
        #expect(try definition(fields: fields) == definition())
    }
}
