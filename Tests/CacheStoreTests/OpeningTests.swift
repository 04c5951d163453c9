import EntitySchema
import GRDB
import JSONText
import Testing

@testable import CacheStore

@Suite("Opening the cache")
struct OpeningTests {
    @Test("a field that the schema gains, loses or changes is adapted without losing records or queue")
    func adapts() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","colour":"red","total":"12"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: TestCache.now)
        let changed = TestCache.shop
            .replacing(
                "status: { type: enum, index: true, values: { open: Open, ready: Ready } }",
                with: "colour: { type: string, index: true }"
            )
            .replacing("total: { type: money }", with: "total: { type: string }")
        let reopened = try cache.reopened(schema: changed)
        let byColour = ListQuery.Filter(field: "colour", comparison: .equal, values: ["red"])
        #expect(try reopened.keys(ListQuery(entity: "orders", filters: [byColour])) == ["a"])
        #expect(try reopened.record("orders", "a")?["status"]?.string == "open")
        #expect(try reopened.store.pendingCount().pending == 1)
        let back = try reopened.reopened()
        let byStatus = ListQuery.Filter(field: "status", comparison: .equal, values: ["open"])
        #expect(try back.keys(ListQuery(entity: "orders", filters: [byStatus])) == ["a"])
    }

    @Test("opening again with the same schema changes nothing in the file's structure")
    func stable() async throws {
        let cache = try TestCache()
        let before = try structure(cache)
        let reopened = try cache.reopened()
        #expect(try structure(reopened) == before)
    }

    @Test("a schema that names another key is refused, the file unchanged")
    func otherKey() throws {
        let cache = try TestCache()
        let other = TestCache.shop.replacing("    orders:", with: "    orders:").replacing(
            "  orders:\n    sort", with: "  orders:\n    key: notes\n    sort")
        #expect(throws: CacheError.self) { try cache.reopened(schema: other) }
        _ = try TestCache(in: cache.folder)
    }

    @Test("a database of a newer version is refused")
    func newer() throws {
        let cache = try TestCache()
        try cache.store.close()
        try DatabaseQueue(path: cache.path).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')")
        }
        #expect(throws: CacheError.self) { try TestCache(in: cache.folder) }
    }

    @Test("a person at a shell reads each entity under its own name")
    func view() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","passcode":"1","created_at":"2026-01-01"}]"#)
        let row = try DatabaseQueue(path: cache.path).read { db in try Row.fetchOne(db, sql: "SELECT * FROM orders") }
        #expect(row?["id"] == "a")
        #expect(row?["created_at"] == "2026-01-01T00:00:00.000Z")
        #expect(row?.hasColumn("passcode") == false)
    }

    private func structure(_ cache: TestCache) throws -> [String] {
        try DatabaseQueue(path: cache.path).read { db in
            try String.fetchAll(
                db, sql: "SELECT name || ' ' || coalesce(sql, '') || rootpage FROM sqlite_master ORDER BY name")
        }
    }
}
