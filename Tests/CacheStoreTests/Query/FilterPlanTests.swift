import EntitySchema
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Checks the column of indexes in the table of filters in docs/api.md.
@Suite("Query plans of filters")
struct FilterPlanTests {
    @Test(
        "the index that the manual names finds the records",
        arguments: [
            ("orders", .test("status", .equal, "ready"), ["orders_by_status (status=?)"]),
            ("orders", .test("status", .among, "ready", "open"), ["orders_by_status (status=?)"]),
            ("orders", .test("total", .less, "5"), ["orders_by_total (total<?)"]),
            ("orders", .test("number", .null, "true"), ["orders_by_number (number=?)"]),
            (
                "orders", .test("number", .starts, "rm-1"),
                ["MULTI-INDEX OR", "orders_by_number (number>? AND number<?)"]
            ),
            ("orders", .test("number", .starts, "10"), ["orders_by_number (number>? AND number<?)"]),
            ("orders", .test("id", .starts, "k"), ["sqlite_autoindex_records_orders_1 (_key>? AND _key<?)"]),
            ("clients", .test("name", .starts, "ad"), ["sync_clients_words VIRTUAL TABLE INDEX", "(rowid=?)"]),
            (
                "clients", .test("name", .contains, "a smith b"),
                ["sync_clients_words VIRTUAL TABLE INDEX", "(rowid=?)"]
            ),
            ("clients", .test("phone", .contains, "900"), ["sync_clients_fragments VIRTUAL TABLE INDEX", "(rowid=?)"]),
            (
                "orders", .test("client.email", .equal, "x"),
                ["clients_by_email (email=?)", "orders_by_client_id (client_id=?)"]
            ),
            (
                "orders", .test("client.id", .equal, "x"),
                ["sqlite_autoindex_records_clients_1 (_key=?)", "orders_by_client_id"]
            ),
            (
                "orders", .any([.test("status", .equal, "ready"), .test("client.email", .starts, "1")]),
                ["MULTI-INDEX OR", "orders_by_status (status=?)", "orders_by_client_id (client_id=?)"]
            ),
            (
                "orders", .any([.test("status", .equal, "ready"), .test("number", .starts, "a")]),
                ["MULTI-INDEX OR", "orders_by_status (status=?)", "orders_by_number (number>? AND number<?)"]
            ),
            (
                "orders", .all([.test("notes", .equal, "x"), .test("total", .atLeast, "5")]),
                ["orders_by_total (total>?)"]
            ),
            (
                "orders", .not(.any([.test("paid", .equal, "true"), .test("number", .notEqual, "7")])),
                ["orders_by_number (number=?)"]
            ),
        ] as [(String, FilterCondition, [String])])
    func sought(_ entity: String, _ condition: FilterCondition, _ expected: [String]) async throws {
        let plan = try await plan(entity, condition)
        for part in expected { #expect(plan.contains { $0.contains(part) }, "\(part): \(plan)") }
        let records = ["orders", "clients"].map { "SCAN records_\($0)" }
        #expect(!plan.contains { line in records.contains { line.hasPrefix($0) } }, "\(plan)")
    }

    @Test(
        "where the manual names no index, the list is read in its own order, without sorting",
        arguments: [
            .test("status", .notAmong, "ready", "open"), .not(.test("status", .equal, "ready")),
            .test("tags", .has, "x"),
            .test("address.city", .equal, "x"), .not(.test("number", .starts, "x")), .test("notes", .contains, "x"),
            .any([.test("status", .equal, "ready"), .test("notes", .equal, "x")]),
        ] as [FilterCondition])
    func walked(_ condition: FilterCondition) async throws {
        let plan = try await plan("orders", condition)
        #expect(plan.first == "SCAN records_orders USING INDEX orders_by_created_at", "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    @Test("a page after a cursor is found by the same index")
    func later() async throws {
        let plan = try await plan("orders", .test("client.email", .equal, "x"), isLater: true)
        #expect(!plan.contains { $0.hasPrefix("SCAN records_") }, "\(plan)")
    }

    private func plan(_ entity: String, _ condition: FilterCondition, isLater: Bool = false) async throws -> [String] {
        let cache = try await FilterShop.cache()
        var query = ListQuery(entity: entity)
        query.filters = [condition]
        let table = try cache.store.table(entity)
        func list() throws -> ListStatement {
            try ListStatement(table: table, query: query, context: cache.store.filterContext)
        }
        if isLater { query.cursor = try list().cursor(after: ["2026-01-01".databaseValue, 7.databaseValue]) }
        return try list().statements.flatMap { statement in
            try cache.store.readers.read { connection in
                var lines: [String] = []
                try connection.query("EXPLAIN QUERY PLAN \(statement.sql)", statement.arguments) { row in
                    lines.append(RecordBytes.text(3, of: row))
                    return true
                }
                return lines
            }
        }
    }
}
