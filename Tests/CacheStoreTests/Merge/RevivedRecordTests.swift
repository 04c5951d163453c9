import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records that two clients create again")
struct RevivedRecordTests {
    private let now = TestCache.now
    private let exists = PushFailure(.conflict, status: 409, message: "a exists already")
    private let theirs = #"[{"id":"a","notes":"n","total":5}]"#

    /// A record that was edited here and deleted on the server, and whose new creation is being sent.
    private func cache(created: String = "") async throws -> (cache: TestCache, creation: OutboxChange) {
        let time = "created_at: { type: time, index: true"
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n")
                .replacing(time, with: time + created))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create)
        _ = try await cache.store.begin(creation, at: now)
        return (cache, creation)
    }

    /// Whether the edit alone is ready to be sent, on top of the other client's record.
    private func expectEdit(_ cache: TestCache, insteadOf creation: OutboxChange) throws {
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(change.operation == .update && change.body.text == #"{"notes":"mine"}"#)
        #expect(change.idempotencyKey != creation.idempotencyKey && !change.isTried)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        #expect(try cache.record("orders", "a")?["total"] == 5)
        #expect(try cache.store.pendingCount().failed == 0)
    }

    @Test("the server refuses a second creation: once the record is pulled, the edit is sent to it")
    func pulledLater() async throws {
        let (cache, creation) = try await cache()
        try await cache.store.finish(creation.id, .failed(exists), at: now)
        #expect(try cache.store.pendingCount().failed == 1)
        _ = try await cache.pull("orders", theirs)
        try expectEdit(cache, insteadOf: creation)
    }

    @Test("the same when the record is pulled before the refusal arrives")
    func pulledBefore() async throws {
        let (cache, creation) = try await cache()
        _ = try await cache.pull("orders", theirs)
        try await cache.store.finish(creation.id, .failed(exists), at: now)
        try expectEdit(cache, insteadOf: creation)
    }

    @Test("a field that moves with each edit is not sent with it")
    func touched() async throws {
        let (cache, creation) = try await cache(created: ", touch: now")
        try await cache.store.finish(creation.id, .failed(exists), at: now)
        _ = try await cache.pull("orders", theirs)
        try expectEdit(cache, insteadOf: creation)
    }

    @Test("its history says that the creation became an edit")
    func history() async throws {
        let (cache, creation) = try await cache()
        try await cache.store.finish(creation.id, .failed(exists), at: now)
        _ = try await cache.pull("orders", theirs)
        let steps = try cache.store.history(of: "orders", key: "a", after: 0, limit: 100).entries
        let step = steps.last { $0["kind"] == "queued" }
        #expect(step?["reason"] == "merged" && step?["operation"] == "update")
        #expect(step?["values"]?.text == #"{"notes":"mine"}"#)
    }

    @Test("a list alone makes no edit of the creation: it may be older than the deletion")
    func listAlone() async throws {
        let (cache, creation) = try await cache()
        try await cache.store.finish(creation.id, .notSent, at: now)
        _ = try await cache.pull("orders", theirs)
        #expect(try cache.store.readyChanges(limit: 1, at: now).map(\.operation) == [.create])
    }

    @Test("a first creation that is refused stays one")
    func firstCreation() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        try await cache.send(.failed(exists))
        _ = try await cache.pull("orders", #"[{"id":"\#(key)","notes":"theirs"}]"#)
        #expect(try cache.store.pendingCount().failed == 1)
    }
}
