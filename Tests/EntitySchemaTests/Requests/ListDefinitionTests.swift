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

    @Test("of what is fetched for each record differs if that is found elsewhere, and the list's does not")
    func details() throws {
        func plan(_ detail: String) throws -> PullPlan {
            let schema = try EntitySchema(
                yaml: """
                    schema: shop
                    upstream: { base_url: "http://localhost", pagination: { style: page } }
                    entities:
                      orders:
                        fields: { id: { type: string }, updated: { type: time } }
                        many: { parts: { of: parts, by: order_id } }
                        pull: { path: /orders, detail: { \(detail), into: parts, when_changed: updated } }
                      parts:
                        fields: { id: { type: string }, order_id: { type: reference, to: orders } }
                    """, file: "shop.yaml")
            return try #require(schema["orders"]?.pull)
        }
        let all = try ["path: '/orders/{id}/parts'", "path: '/parts/{id}'", "path: '/parts/{id}', records: data"]
            .map(plan)
        #expect(Set(all.map(\.detailDefinition)).count == 3)
        #expect(Set(all.map(\.definition)).count == 1)
    }

    @Test("of a list of deletions differs if that is asked for or read in another way")
    func deletions() throws {
        let all = try [
            "key: order, at: time", "key: other, at: time", "key: { link: url }, at: time",
            "key: { link: href }, at: time",
            "key: order, at: moment", "key: order, at: time, where: { kind: gone }",
            "key: order, at: time, where: { kind: deleted }", "key: order, at: time, since: { param: after }",
            "key: order, at: time, query: { of: orders }", "key: order, at: time, records: data",
        ].map { list in
            let schema = try EntitySchema(
                yaml: """
                    schema: shop
                    upstream: { base_url: "http://localhost", pagination: { style: page } }
                    entities:
                      orders:
                        fields: { id: { type: string }, updated: { type: time } }
                        pull: { path: /orders, changed_at: updated, deleted: { path: /gone, \(list) } }
                    """, file: "shop.yaml")
            return try #require(schema["orders"]?.tombstones).definition
        }
        #expect(Set(all).count == all.count)
    }

    @Test("is the same for other fields")
    func fields() throws {
        let fields = "id: { type: string }, updated: { type: time, index: true }, note: { type: string }"
        #expect(try definition(fields: fields) == definition())
    }
}
