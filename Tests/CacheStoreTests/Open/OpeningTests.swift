import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

@Suite("Opening the cache")
struct OpeningTests {
    @Test("adding, removing or changing a field migrates the table without losing records or queue")
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
        let byColour = FilterCondition(field: "colour", comparison: .equal, values: ["red"])
        #expect(try reopened.keys(ListQuery(entity: "orders", filters: [byColour])) == ["a"])
        #expect(try reopened.record("orders", "a")?["status"]?.string == "open")
        #expect(try reopened.store.pendingCount().pending == 1)
        let back = try reopened.reopened()
        let byStatus = FilterCondition(field: "status", comparison: .equal, values: ["open"])
        #expect(try back.keys(ListQuery(entity: "orders", filters: [byStatus])) == ["a"])
    }

    @Test("opening again with the same schema does not change the file's structure")
    func stable() async throws {
        let cache = try TestCache()
        let before = try structure(cache)
        let reopened = try cache.reopened()
        #expect(try structure(reopened) == before)
    }

    @Test("a schema with another key field is refused, and the file is unchanged")
    func otherKey() throws {
        let cache = try TestCache()
        let other = TestCache.shop.replacing("    orders:", with: "    orders:").replacing(
            "  orders:\n    sort", with: "  orders:\n    key: notes\n    sort")
        #expect(throws: CacheError.self) { try cache.reopened(schema: other) }
        _ = try TestCache(in: cache.folder)
    }

    @Test("a database of a newer version is refused, and neither the file nor the log of a crash is touched")
    func newer() throws {
        let cache = try TestCache()
        // As a killed newer version leaves it: its last writes are only in the log.
        try cache.store.pool.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')")
        }
        let folder = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: cache.path + suffix, toPath: folder.path + "/cache.db" + suffix)
        }
        let before = try bytes(in: folder)
        #expect(throws: CacheError.self) { try TestCache(in: folder) }
        #expect(try bytes(in: folder) == before)
    }

    private func bytes(in folder: TemporaryFolder) throws -> [Data] {
        try ["", "-wal"].map { try Data(contentsOf: URL(filePath: folder.path + "/cache.db" + $0)) }
    }

    @Test("opening asks repeatedly whether to continue while the tables are rebuilt")
    func asks() async throws {
        let cache = try await filled()
        try cache.store.close()
        let count = Mutex(0)
        let goesOn: @Sendable () -> Bool = {
            count.withLock { $0 += 1 }
            return true
        }
        _ = try TestCache(schema: Self.indexed, in: cache.folder, goesOn: goesOn)
        #expect(count.withLock { $0 } > 1)
    }

    @Test("with the same schema, opening a cache with many records takes as much work as opening an empty one")
    func unchanged() async throws {
        let (empty, large) = (try TestCache(), try await filled(20_000))
        let counts = try [empty, large].map { cache in
            try cache.store.close()
            let count = Mutex(0)
            _ = try TestCache(in: cache.folder) {
                count.withLock { $0 += 1 }
                return true
            }
            return count.withLock { $0 }
        }
        #expect(counts[0] == counts[1])
    }

    @Test("a cancelled opening is rolled back, and the next opening completes")
    func givenUp() async throws {
        let cache = try await filled()
        let before = try structure(cache)
        try cache.store.close()
        #expect(throws: CancellationError.self) { try TestCache(schema: Self.indexed, in: cache.folder) { false } }
        let again = try TestCache(in: cache.folder)
        #expect(try structure(again) == before)
        let changed = try again.reopened(schema: Self.indexed)
        let notes = FilterCondition(field: "notes", comparison: .equal, values: ["n7"])
        #expect(try changed.keys(ListQuery(entity: "orders", filters: [notes])) == ["o7"])
    }

    private static let indexed = TestCache.shop.replacing(
        "notes: { type: string }", with: "notes: { type: string, index: true }")

    private func filled(_ count: Int = 2000) async throws -> TestCache {
        let cache = try TestCache()
        let records = (0..<count).map { #"{"id":"o\#($0)","notes":"n\#($0)"}"# }
        _ = try await cache.pull("orders", "[\(records.joined(separator: ","))]")
        return cache
    }

    @Test("a shell user can query each entity under its own name")
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

    @Test("records whose owner was deleted while the schema did not have them are hidden once it has them again")
    func ownerDeletedMeanwhile() async throws {
        let orders = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string } }
                MANY
                pull: { path: /orders }
                push: { delete: { call: "DELETE /orders/{id}" } }
            """
        let alone = orders.replacing("    MANY\n", with: "")
        let both =
            orders.replacing("MANY", with: "many: { notes: { of: notes, by: order_id, on_delete: cascade } }") + """

                  notes:
                    fields: { id: { type: string }, order_id: { type: reference, to: orders } }
                    pull: { path: /notes }
                """
        var cache = try TestCache(schema: both)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        _ = try await cache.pull("notes", #"[{"id":"m","order_id":"a"},{"id":"n","order_id":"b"}]"#)
        cache = try cache.reopened(schema: alone)
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        cache = try cache.reopened(schema: both)
        #expect(try cache.keys(ListQuery(entity: "notes")) == ["n"])
    }

    @Test("changes that were discarded while the schema did not have their entity are not shown once it has it again")
    func discardedMeanwhile() async throws {
        let alone = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string } }
                pull: { path: /orders }
            """
        let both =
            alone + """

                  notes:
                    fields: { id: { type: string }, text: { type: string } }
                    pull: { path: /notes }
                    push:
                      create: { call: POST /notes }
                      update: { call: "PATCH /notes/{id}" }
                      delete: { call: "DELETE /notes/{id}" }
                """
        var cache = try TestCache(schema: both)
        _ = try await cache.pull("notes", #"[{"id":"m","text":"theirs"},{"id":"n"}]"#)
        try await cache.store.update("notes", key: "m", body: JSONText(parsing: #"{"text":"mine"}"#), at: TestCache.now)
        try await cache.store.delete("notes", key: "n", at: TestCache.now)
        _ = try await cache.make("notes", #"{"text":"new"}"#)
        cache = try cache.reopened(schema: alone)
        for id in 1...3 { try await cache.store.discard(Int64(id), cascade: false, at: TestCache.now) }
        cache = try cache.reopened(schema: both)
        #expect(try cache.keys(ListQuery(entity: "notes")).sorted() == ["m", "n"])
        #expect(try cache.record("notes", "m")?["text"] == "theirs")
    }
}
