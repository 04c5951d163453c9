import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The upstream gives the key of a deleted record to the next one, as SQLite does for the greatest.
@Suite("A new record with the key of a record that was deleted here")
struct ReusedKeyTests {
    private let now = TestCache.now
    private let old = #"{"id":"a","notes":"old","total":5,"updated_at":"2026-01-01T00:00:00Z"}"#
    private let answer = #"{"id":"a","notes":"new","updated_at":"2026-01-01T00:00:01Z"}"#

    /// The deletion of a record that is being sent, and the creation of another one; the local key of that.
    private func deletedAndMade(
        _ cache: TestCache
    ) async throws -> (deletion: OutboxChange, creation: OutboxChange, key: String) {
        _ = try await cache.pull("orders", "[\(old)]")
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"a","text":"of the old one"}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        let key = try await cache.make("orders", #"{"notes":"new"}"#)
        let changes = try cache.store.readyChanges(limit: 9, at: now)
        let deletion = try #require(changes.first { $0.operation == .delete })
        let creation = try #require(changes.first { $0.operation == .create })
        #expect(try await cache.store.begin(deletion, at: now))
        #expect(try await cache.store.begin(creation, at: now))
        return (deletion, creation, key)
    }

    /// The outcome of a look-up for a creation whose answer was lost.
    private func found(_ record: String) throws -> PushOutcome {
        let otherwise = PushFailure(.unseen, message: "")
        return .found(record: try JSONText(parsing: record), version: nil, view: .list, otherwise: otherwise, at: now)
    }

    private func expectOnlyNew(_ cache: TestCache, _ key: String) throws {
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try cache.conflictCount() == 0)
        for name in ["a", key] {
            let record = try #require(try cache.record("orders", name))
            #expect(record["notes"] == "new" && record["total"] == nil)
        }
        #expect(try cache.record("messages", "m") == nil)
    }

    @Test("is not deleted by the repeat of a deletion whose answer was lost")
    func lostDeletion() async throws {
        let cache = try TestCache()
        let (deletion, creation, key) = try await deletedAndMade(cache)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(deletion.id, .waiting(lost, at: now, counted: true), at: now)
        try await cache.store.finish(creation.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        try expectOnlyNew(cache, key)
        #expect(try cache.store.readyChanges(limit: 9, at: now + .seconds(9)).isEmpty)
    }

    @Test("stays when the deletion is answered after its creation", arguments: [true, false])
    func lateDeletion(isAcknowledged: Bool) async throws {
        let cache = try TestCache()
        let (deletion, creation, key) = try await deletedAndMade(cache)
        try await cache.store.finish(creation.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        try expectOnlyNew(cache, key)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(
            deletion.id, isAcknowledged ? .acknowledged(record: nil) : .waiting(lost, at: now, counted: true), at: now)
        try expectOnlyNew(cache, key)
        _ = try await cache.pull("orders", "[\(answer)]")
        try expectOnlyNew(cache, key)
    }

    @Test("is shown when a look-up finds it, without a change time")
    func foundByLookUp() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"old"}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.send(answer: nil)
        let key = try await cache.make("orders", #"{"notes":"new"}"#)
        try await cache.send(found(#"{"id":"a","notes":"new"}"#))
        #expect(try cache.record("orders", key)?["notes"] == "new")
        #expect(try cache.record("orders", "a")?["notes"] == "new")
    }

    @Test("is not the deleted one, which a list that is behind shows to a look-up")
    func shownByLookUp() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(old)]")
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.send(answer: nil)
        let key = try await cache.make("orders", #"{"notes":"new"}"#)
        for (record, pending) in [(old, 1), (answer, 0)] {
            try await cache.send(found(record))
            #expect(try cache.store.pendingCount().pending == pending)
            #expect(try cache.record("orders", key)?["notes"] == "new")
        }
        #expect(try cache.record("orders", key)?["id"] == "a")
    }

    @Test("is deleted if a pull had brought it and it was deleted as that")
    func deletedTwin() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"new"}"#)
        let creation = try await cache.begun()
        _ = try await cache.pull("orders", "[\(answer)]")
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.store.finish(creation.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try cache.record("orders", key) == nil)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.operation) == [.delete])
    }
}
