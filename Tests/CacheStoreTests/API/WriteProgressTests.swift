import EntitySchema
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("The progress of a write")
struct WriteProgressTests {
    private func created(_ cache: TestCache) async throws -> QueuedWrite {
        try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.track(.create, of: "orders", fields: []) {
                (try transaction.create("orders", .object(["notes": "a"])), ())
            }.queued
        }
    }

    @Test func `a pending write has a place in the queue, and no end`() async throws {
        let cache = try TestCache()
        let first = try await created(cache)
        let second = try await created(cache)
        #expect(try cache.store.progress(of: first) == .pending(position: 1))
        #expect(try cache.store.progress(of: second) == .pending(position: 2))
        #expect(try cache.store.end(of: second) == nil)
        try await cache.store.write(at: TestCache.now) { try $0.discard(first.changes[0], cascade: false) }
        #expect(try cache.store.end(of: first) == .discarded)
        #expect(try cache.store.progress(of: first) == .discarded)
        #expect(try cache.store.progress(of: second) == .pending(position: 1))
    }
}
