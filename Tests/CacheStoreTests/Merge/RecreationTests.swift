import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records that are created again")
struct RecreationTests {
    private let now = TestCache.now

    private func cache(_ record: String) async throws -> TestCache {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n"))
        _ = try await cache.pull("orders", "[\(record)]")
        return cache
    }

    @Test("the tombstone of a record that is created again does not delete the new one")
    func oldTombstone() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        let tombstone = #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        _ = try await cache.pull("orders", tombstone)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create)
        _ = try await cache.store.begin(creation, at: now)
        _ = try await cache.pull("orders", tombstone)
        let answer = try JSONText(parsing: #"{"id":"b","notes":"mine"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        #expect(try cache.record("orders", "b")?["notes"] == "mine")
        #expect(try cache.record("orders", "a")?["id"] == "b", "the old key still works")
    }

    @Test("if the response to a creation was lost and the record was deleted on the server, it is only created again")
    func lostCreationDeleted() async throws {
        let cache = try await cache(#"{"id":"a"}"#)
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        let creation = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(creation.id, .failed(lost), at: now)
        _ = try await cache.pull("orders", #"[{"id":"\#(key)","notes":"mine","status":"open"}]"#)
        #expect(try cache.record("orders", key)?["status"] == "open")
        _ = try await cache.pull("orders", #"[{"id":"\#(key)","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        #expect(try cache.store.pendingCount().failed == 1)
        #expect(try cache.record("orders", key)?["notes"] == "mine")
        #expect(try cache.record("orders", key)?["status"] == nil, "the server no longer has the record")
    }

    /// A record whose title is in another place, edited here and deleted on the server.
    private func moved(_ policy: String) async throws -> TestCache {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: \(policy)\n")
                .replacing(
                    "notes: { type: string }",
                    with: "notes: { type: string }\n      title: { type: string, from: info.title }"))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","info":{"title":"t"}}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        return cache
    }

    @Test("a record that is created again has the fields that it had in other places")
    func movedFields() async throws {
        let cache = try await moved("local_wins")
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create)
        #expect(creation.body["title"] == "t" && creation.body["notes"] == "mine")
    }

    @Test("so has one that a person creates again by undoing the server's deletion")
    func undone() async throws {
        let cache = try await moved("server_wins")
        let conflict = try #require(try cache.store.conflicts(before: nil, open: false, limit: 1).conflicts.first)
        let id = Int64(try #require(conflict["id"]?.integer))
        try await cache.store.undo(id, at: now)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create)
        #expect(creation.body["title"] == "t" && creation.body["notes"] == "mine")
    }

    @Test("so has one whose key the upstream makes, which an undo leaves out")
    func undoneWithoutKey() async throws {
        let schema = "  orders:\n    conflict: server_wins\n    key: { field: id, made: server }\n"
        let cache = try TestCache(schema: TestCache.shop.replacing("  orders:\n", with: schema))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        let conflict = try #require(try cache.store.conflicts(before: nil, open: false, limit: 1).conflicts.first)
        try await cache.store.undo(Int64(try #require(conflict["id"]?.integer)), at: now)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create && creation.key != "a")
        #expect(creation.body["notes"] == "mine" && creation.body["total"] == 1)
    }

    @Test("members that its creation cannot send go when the server has accepted it without showing it")
    func unsentMembers() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n")
                .replacing("call: POST /orders }", with: "call: POST /orders, fields: [notes] }"))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","updated_at":"2026-11-20T00:00:00Z"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        try await cache.send(answer: #"{"id":"b","notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"mine"}]"#)
        #expect(try cache.record("orders", "b")?["updated_at"] == nil)
        #expect(try cache.store.readyChanges(limit: 1, at: now).isEmpty)
    }
}
