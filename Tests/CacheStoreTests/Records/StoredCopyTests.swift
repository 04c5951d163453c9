import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("What a copy in plain files is made of")
struct StoredCopyTests {
    /// Five new orders of 1 MiB each.
    private func largeOrders() async throws -> TestCache {
        let cache = try TestCache()
        let body = JSONText.object(["notes": .string(String(repeating: "x", count: 1 << 20))])
        for _ in 0..<5 { _ = try await cache.store.create("orders", body: body, at: TestCache.now) }
        return cache
    }

    @Test("the queue is read a part at a time, so that a large one does not fill the memory")
    func largeQueue() async throws {
        let cache = try await largeOrders()
        cache.isDamaged = true
        var found: [(id: Int64, attempts: Int)] = []
        try cache.store.forEachStoredChange { change in
            // What is written meanwhile is seen by the parts that are read afterwards.
            if found.isEmpty {
                try cache.store.pool.write { db in try db.execute(sql: "UPDATE sync_outbox SET attempt_count = 7") }
            }
            found.append((change.id, change.attemptCount))
        }
        #expect(found.map(\.id) == [1, 2, 3, 4, 5])
        #expect(found.first?.attempts == 0 && found.last?.attempts == 7)
    }

    @Test("records are read a part at a time, so that large ones do not fill the memory")
    func largeRecords() async throws {
        let cache = try await largeOrders()
        cache.isDamaged = true
        var count = 0
        try cache.store.forEachStoredRecord(of: "orders") { _ in
            if count == 0 {
                try cache.store.pool.write { db in
                    try db.execute(
                        sql: "UPDATE records_orders SET _deleted = 1 WHERE _pk = (SELECT max(_pk) FROM records_orders)")
                }
            }
            count += 1
        }
        #expect(count == 4)
    }
}
