import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Lists of entities with large records")
struct LargeListTests {
    private static let query = ListQuery(entity: "orders", limit: 1)

    private func isQuick(_ cache: TestCache) throws -> Bool {
        try cache.store.quickList(Self.query, thousands: 1000) != nil
    }

    private func filled(_ size: Int) async throws -> TestCache {
        let cache = try TestCache()
        let text = String(repeating: "x", count: size)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b","notes":"\#(text)"}]"#)
        return cache
    }

    @Test("they are read on another thread, even when none of the large ones is in them")
    func elsewhere() async throws {
        let cache = try await filled(1_100_000)
        #expect(try !isQuick(cache))
        #expect(try await cache.store.anyList(Self.query).count == 1)
        #expect(try cache.store.quickList(ListQuery(entity: "messages", limit: 1), thousands: 1000) != nil)
    }

    @Test("they are read at once where no record is large")
    func usual() async throws {
        let cache = try await filled(100_000)
        #expect(try isQuick(cache))
    }

    @Test("a large record that was written here counts too")
    func writtenHere() async throws {
        let cache = try await filled(10)
        #expect(try isQuick(cache))
        try await cache.change("orders", "a", #"{"notes":"\#(String(repeating: "x", count: 1_100_000))"}"#)
        #expect(try !isQuick(cache))
    }

    @Test("large records are known after a restart, and found in a database that was written before they were noted")
    func reopened() async throws {
        let cache = try await filled(1_100_000).reopened()
        #expect(try !isQuick(cache))
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name LIKE 'large:%'")
        }
        #expect(try !isQuick(cache.reopened()))
    }
}
