import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Several writes of one transaction")
struct WritesApartTests {
    private struct Outage: Error {}

    /// Creates an order with each of these keys. `x` is refused after it was created, as `!` ends the transaction.
    private static func create(_ keys: [String], in cache: TestCache) async throws -> [String?] {
        try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(keys.count) { before -> String? in
                let key = keys[before.count]
                let made = try transaction.create("orders", .object(["id": .string(key)]))
                if key == "x" { throw CacheError.conflict("no") }
                if key == "!" { throw Outage() }
                return made
            } refused: { error, _ in
                guard error is CacheError else { throw error }
                return nil
            }
        }
    }

    @Test("a write that is refused after it has changed something is undone alone")
    func apart() async throws {
        let cache = try TestCache()
        #expect(try await Self.create(["a", "x", "b", "x"], in: cache) == ["a", nil, "b", nil])
        #expect(try cache.store.record("orders", key: "a") != nil && cache.store.record("orders", key: "b") != nil)
        #expect(try cache.store.record("orders", key: "x") == nil)
        #expect(try cache.store.pendingCount().pending == 2)
    }

    @Test("a refused write that has changed nothing is not done again")
    func cheap() async throws {
        let cache = try TestCache()
        let counter = Counter()
        let outcomes = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(3) { before -> String? in
                _ = counter.next()
                guard before.count != 1 else { throw CacheError.conflict("no") }
                return try transaction.create("orders", .object([:]))
            } refused: { _, _ in
                nil
            }
        }
        #expect(outcomes.map { $0 == nil } == [false, true, false])
        #expect(counter.next() == 4)
    }

    @Test("an error that is no refusal undoes all of them")
    func aborted() async throws {
        let cache = try TestCache()
        await #expect(throws: Outage.self) { try await Self.create(["a", "x", "!", "b"], in: cache) }
        #expect(try cache.store.record("orders", key: "a") == nil)
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test("the number of a write that was undone is given to the next, and the log counts on from the last that stays")
    func numbers() async throws {
        let cache = try TestCache()
        _ = try await Self.create(["a", "x", "b"], in: cache)
        _ = try await Self.create(["c"], in: cache)
        let rows = try cache.store.read { db in
            try Row.fetchAll(db, sql: "SELECT seq, change_id, last_change, steps FROM sync_change_log ORDER BY seq")
                .map { row in (0..<4).map { row[$0] as Int64 } }
        }
        #expect(rows == [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]])
        #expect(
            try cache.store.read { try Int64.fetchAll($0, sql: "SELECT id FROM sync_outbox ORDER BY id") } == [1, 2, 3])
    }
}
