import EntitySchema
import GRDB
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields inside lists, and names that begin with a line")
struct FieldPlaceTests {
    private static func schema(indexed: Bool = false) throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    key: _id
                    fields:
                      _id: { type: string }
                      _updated: { type: time, index: true }
                      first: { type: string, from: lines.0.name, index: \(indexed) }
                      last: { type: integer, from: lines.-1.count, index: \(indexed) }
                      names: { type: list, from: lines.*.name, index: \(indexed) }
                      type: { type: string, from: '"@odata.type"', index: \(indexed) }
                      quote: { type: string, from: '"it''s".x', index: \(indexed) }
                    pull: { path: /orders, changed_at: _updated }
                    push: { update: { call: "PATCH /orders/{_id}" } }
                """, file: "shop.yaml")
    }

    private static let records = """
        [{"_id":"a","_updated":"2026-01-01T00:00:00Z","lines":[{"name":"x","count":1},{"name":"no JSON","count":2}],\
        "@odata.type":"#big","it's":{"x":"q"}},
         {"_id":"b","_updated":"2026-01-02T00:00:00Z","lines":[{"name":"y","count":10}]},
         {"_id":"c","lines":[]}, {"_id":"d","lines":"none"}]
        """

    private func keys(_ store: CacheStore, _ filters: [FilterCondition], sort: [SortTerm] = []) throws -> [String] {
        var query = ListQuery(entity: "orders", limit: 10)
        query.filters = filters
        query.sort = sort
        return try JSONText(store.list(query).records).elements.compactMap { $0["_id"]?.plain }
    }

    @Test("one that is set to null here is null, whatever stands in its other place", arguments: [false, true])
    func cleared(indexed: Bool) async throws {
        let store = try CacheStore.temporary(Self.schema(indexed: indexed))
        _ = try await store.apply(PulledPage(entity: "orders", records: Self.records), at: .sample)
        try await store.update("orders", key: "a", body: JSONText(parsing: #"{"first":null,"last":7}"#), at: .sample)
        func found(_ comparison: FilterComparison.Operation, _ value: String) throws -> [String] {
            try keys(store, [FilterCondition(field: "first", comparison: comparison, values: [value])])
        }
        #expect(try found(.equal, "x").isEmpty)
        #expect(try found(.null, "true").contains("a"))
        #expect(try keys(store, [FilterCondition(field: "last", comparison: .equal, values: ["7"])]) == ["a"])
    }

    @Test("one inside a list that is set as a whole here is what it says there")
    func holder() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    key: id
                    fields:
                      id: { type: string }
                      lines: { type: list }
                      first: { type: string, from: lines.0.name, index: true }
                      notes: { type: string, index: true }
                    pull: { path: /orders }
                    push: { update: { call: "PATCH /orders/{id}" } }
                """, file: "shop.yaml")
        let store = try CacheStore.temporary(schema)
        let records =
            #"[{"id":"a","lines":[{"name":"x"}],"notes":"old"},{"id":"b","lines":[{"name":"x"}],"notes":"old"}]"#
        _ = try await store.apply(PulledPage(entity: "orders", records: records), at: .sample)
        try await store.update("orders", key: "a", body: JSONText(parsing: #"{"lines":[{"name":"y"}]}"#), at: .sample)
        try await store.update("orders", key: "b", body: JSONText(parsing: #"{"notes":"new"}"#), at: .sample)
        func found(_ field: String, _ value: String) throws -> [String] {
            var query = ListQuery(entity: "orders", limit: 10)
            query.filters = [FilterCondition(field: field, comparison: .equal, values: [value])]
            return try JSONText(store.list(query).records).elements.compactMap { $0["id"]?.plain }
        }
        #expect(try found("first", "y") == ["a"])
        #expect(try found("first", "x") == ["b"])
        #expect(try found("notes", "new") == ["b"])
        #expect(try found("notes", "old") == ["a"])
    }

    @Test("are filtered and sorted by, with an index and without", arguments: [false, true])
    func listed(indexed: Bool) async throws {
        let store = try CacheStore.temporary(Self.schema(indexed: indexed))
        _ = try await store.apply(PulledPage(entity: "orders", records: Self.records), at: .sample)
        let entity = try #require(store.schema["orders"])
        func filtered(_ name: String, _ value: String) throws -> [String] {
            try keys(store, [FilterCondition(field: name, comparison: .equal, values: [value])])
        }
        #expect(try filtered("first", "x") == ["a"])
        #expect(try filtered("last", "10") == ["b"])
        #expect(try filtered("type", "#big") == ["a"])
        #expect(try filtered("quote", "q") == ["a"])
        #expect(try keys(store, [], sort: [SortTerm(text: "-_updated")]).prefix(2) == ["b", "a"])
        let record = try JSONText(parsing: Self.records).elements[0]
        #expect(entity.value(of: "names", in: record)?.text == #"["x","no JSON"]"#)
    }

    @Test("a column through a list holds what the record says")
    func column() async throws {
        let store = try CacheStore.temporary(Self.schema(indexed: true))
        _ = try await store.apply(PulledPage(entity: "orders", records: Self.records), at: .sample)
        let table = EntityTable(entity: try #require(store.schema["orders"]))
        let field = try #require(store.schema["orders"]?[field: "names"])
        let found = try store.read { db in
            try String?.fetchAll(
                db, sql: "SELECT \(table.expression(for: field, in: "_remote")) FROM \(table.name) ORDER BY _key")
        }
        #expect(found == [#"["x","no JSON"]"#, #"["y"]"#, "[]", nil])
        let kept = try store.read { db in
            try String?.fetchAll(db, sql: "SELECT names FROM \(table.name) ORDER BY _key")
        }
        #expect(kept == found)
    }

    @Test("a field cannot have the name of a column or a member of the cache's own")
    func ownMembers() {
        let members = ["_displaced", "_sync", "_include", "_labels", "_server", "_Local"]
        for name in EntityTable.ownColumns.map(\.key) + members {
            #expect {
                try EntitySchema(
                    yaml: """
                        schema: shop
                        upstream: { base_url: http://localhost }
                        entities: { orders: { fields: { id: { type: string }, \(name): { type: string } }, pull: { path: /o } } }
                        """, file: "shop.yaml")
            } throws: { ($0 as? SchemaError)?.problem.contains("with from: \(name)") == true }
        }
    }

    @Test(
        "what a field's place cannot be is refused",
        arguments: [
            ("{ type: string, from: a.*.b }", "type: list"), ("{ type: list, from: a.*.b.*.c }", "two lists"),
            ("{ type: string, secret: true, from: a.0.b }", "part of a list"),
            ("{ type: string, from: a..b }", "a dot without a name"),
            ("{ type: string, from: fields.Full Name }", #"such as 'fields."Full Name"'"#),
        ])
    func refused(_ field: String, _ words: String) {
        #expect {
            try EntitySchema(
                yaml: """
                    schema: shop
                    upstream: { base_url: http://localhost }
                    entities: { orders: { fields: { id: { type: string }, x: \(field) }, pull: { path: /o } } }
                    """, file: "shop.yaml")
        } throws: { ($0 as? SchemaError)?.problem.contains(words) == true }
    }
}
