import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records that the server deletes while a change of them is being sent")
struct GoneRecordTests {
    private let now = TestCache.now
    private let order = #"[{"id":"a"}]"#
    private let tombstone = #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#
    private let answer = JSONText.object(["id": "m1", "order_id": "a", "text": "hello"])

    /// A message whose creation is being sent when its order is deleted.
    private func cache() async throws -> (cache: TestCache, creation: OutboxChange) {
        let cache = try TestCache()
        _ = try await cache.pull("orders", order)
        let message = try JSONText(parsing: #"{"order_id":"a","text":"hello"}"#)
        _ = try await cache.store.create("messages", body: message, at: now)
        let creation = try await cache.begun()
        _ = try await cache.pull("orders", tombstone)
        return (cache, creation)
    }

    @Test("what is created with its parent already deleted goes with it")
    func goes() async throws {
        let (cache, creation) = try await cache()
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        #expect(try cache.record("messages", "m1") == nil)
    }

    @Test("what was created before its parent was deleted goes with it, although the answer was lost")
    func goesLater() async throws {
        let (cache, creation) = try await cache()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(creation.id, .waiting(lost, at: now, counted: true), at: now)
        try await cache.send(.acknowledged(record: answer))
        #expect(try cache.record("messages", "m1") == nil)
    }

    @Test("what is created after its parent came back stays")
    func stays() async throws {
        let (cache, creation) = try await cache()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(creation.id, .waiting(lost, at: now, counted: true), at: now)
        _ = try await cache.pull("orders", order)
        try await cache.send(.acknowledged(record: answer))
        #expect(try cache.record("messages", "m1")?["text"] == "hello")
    }

    /// An order with an edit in progress, while the server's answers lack the order or say that it was deleted.
    private func edited(isInferred: Bool) async throws -> (cache: TestCache, edit: OutboxChange) {
        let cache = try TestCache()
        _ = try await cache.pull("orders", order)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        let edit = try await cache.begun()
        if isInferred {
            _ = try await cache.store.delete(["a"], of: "orders", position: .max, at: now)
        } else {
            _ = try await cache.pull("orders", tombstone)
        }
        return (cache, edit)
    }

    @Test("an answer that shows the record outweighs earlier ones that lacked it, and the record is read again later")
    func shown() async throws {
        let (cache, edit) = try await edited(isInferred: true)
        let answer = try JSONText(parsing: #"{"id":"a","notes":"n"}"#)
        try await cache.store.finish(edit.id, .acknowledged(record: answer), at: now)
        #expect(try cache.record("orders", "a")?["notes"] == "n")
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key) == ["a"])
    }

    @Test("children deleted with a record that is there after all are fetched again")
    func childrenOfShown() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", order)
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"a","text":"x"}]"#)
        func outdated() throws -> [CacheStore.OutdatedParent] {
            try cache.store.parents(of: "orders", after: 0, all: false, limit: 9)
        }
        let fetched = try outdated().map { PulledPage.Detail(key: $0.key, value: $0.value) }
        _ = try await cache.store.apply(PulledPage(entity: "orders", records: "[]", details: fetched), at: now)
        #expect(try outdated().isEmpty)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        let edit = try await cache.begun()
        _ = try await cache.store.delete(["a"], of: "orders", position: .max, at: now)
        #expect(try cache.record("messages", "m") == nil)
        let answer = try JSONText(parsing: #"{"id":"a","notes":"n"}"#)
        try await cache.store.finish(edit.id, .acknowledged(record: answer), at: now)
        #expect(try outdated().map(\.key) == ["a"])
    }

    @Test("a deletion that the server reported counts even if answers without the record follow")
    func reportedAndInferred() async throws {
        let (cache, edit) = try await edited(isInferred: false)
        _ = try await cache.store.delete(["a"], of: "orders", position: .max, at: now)
        let answer = try JSONText(parsing: #"{"id":"a","notes":"n"}"#)
        try await cache.store.finish(edit.id, .acknowledged(record: answer), at: now)
        #expect(try cache.record("orders", "a") == nil)
    }

    @Test("an answer does not bring the record back if it lacks it, or if the server has reported the deletion")
    func notShown() async throws {
        let inferred = try await edited(isInferred: true)
        try await inferred.cache.store.finish(inferred.edit.id, .acknowledged(record: nil), at: now)
        #expect(try inferred.cache.record("orders", "a") == nil)
        let reported = try await edited(isInferred: false)
        let answer = try JSONText(parsing: #"{"id":"a","notes":"n"}"#)
        try await reported.cache.store.finish(reported.edit.id, .acknowledged(record: answer), at: now)
        #expect(try reported.cache.record("orders", "a") == nil)
    }

    @Test("a record that is missing just after its edit was accepted stays, and is read again later")
    func vanished() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", order)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        let edit = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","notes":"n"}"#)
        try await cache.store.finish(edit.id, .vanished(record: answer), at: now)
        #expect(try cache.record("orders", "a")?["notes"] == "n")
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key) == ["a"])
    }
}
