import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The upstream makes the key from a value, such as a slug, so that an edit gives the record another key.
@Suite("The former key of a record")
struct FormerKeyTests {
    private let now = TestCache.now
    private let first = #"{"id":"foo","notes":"first","updated_at":"2026-01-01T00:00:00Z"}"#
    private let moved = #"{"id":"bar","notes":"moved","updated_at":"2026-01-01T00:00:10Z"}"#
    private let second = #"{"id":"foo","notes":"second","updated_at":"2026-01-01T00:02:00Z"}"#

    /// The record is `bar`, and was `foo`.
    private func renamed() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(first)]")
        try await cache.change("orders", "foo", #"{"notes":"moved"}"#)
        try await cache.send(answer: moved)
        #expect(try cache.record("orders", "foo")?["id"] == "bar")
        return cache
    }

    private func list(_ cache: TestCache, _ records: String, after seconds: Int) async throws {
        let page = PulledPage(entity: "orders", records: "[\(records)]", position: try cache.store.position())
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    @Test("names the record until another one has it")
    func alone() async throws {
        let cache = try await renamed()
        try await cache.change("orders", "foo", #"{"total":5}"#)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.key) == ["bar"])
    }

    @Test("names the record in each of several writes of one transaction")
    func together() async throws {
        let cache = try await renamed()
        try await cache.store.write(at: now) { transaction in
            for total in 5...7 {
                try transaction.update("orders", key: "foo", .object(["total": .integer(total)]))
            }
        }
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.key) == ["bar"])
        #expect(try cache.record("orders", "bar")?["total"]?.integer == 7)
    }

    @Test("names the other record that has it now, also for edits and deletions")
    func taken() async throws {
        let cache = try await renamed()
        try await list(cache, "\(moved),\(second)", after: 120)
        try await cache.change("orders", "foo", #"{"total":5}"#)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.key) == ["foo"])
        let later = now + .seconds(130)
        try await cache.send(answer: second.replacing("\"notes\"", with: "\"total\":5,\"notes\""), at: later)
        #expect(try cache.record("orders", "bar")?["total"] == nil)
        try await cache.store.delete("orders", key: "foo", at: later)
        try await cache.send(answer: nil, at: later)
        // The same deletion again, as by a script that repeats it, must not reach the first record.
        await #expect(throws: CacheError.self) { try await cache.store.delete("orders", key: "foo", at: later) }
        #expect(try cache.record("orders", "bar")?["notes"] == "moved")
    }

    @Test("names no record once the other one that had it was deleted upstream")
    func takenAndDeleted() async throws {
        let cache = try await renamed()
        try await list(cache, "\(moved),\(second)", after: 120)
        let tombstone = #"{"id":"foo","updated_at":"2026-01-01T00:03:00Z","deleted_at":"2026-01-01T00:03:00Z"}"#
        try await list(cache, tombstone, after: 200)
        #expect(try cache.record("orders", "foo") == nil)
        await #expect(throws: CacheError.self) { try await cache.change("orders", "foo", #"{"total":5}"#) }
        #expect(try cache.record("orders", "bar")?["total"] == nil)
    }

    @Test("names the new record that was created here and has it now")
    func created() async throws {
        let cache = try await renamed()
        let key = try await cache.make("orders", #"{"notes":"second"}"#)
        try await cache.send(answer: second)
        #expect(try cache.record("orders", key)?["id"] == "foo")
        try await cache.change("orders", "foo", #"{"total":5}"#)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.key) == ["foo"])
    }

    @Test("is not shown again because a list is behind")
    func behind() async throws {
        let cache = try await renamed()
        try await list(cache, first, after: 5)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["bar"])
        try await list(cache, first, after: 90)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["bar"])
    }
}
