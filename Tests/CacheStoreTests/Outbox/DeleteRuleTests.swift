import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Delete rules")
struct DeleteRuleTests {
    private let now = TestCache.now

    private func cache() async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("people", #"[{"id":"p"},{"id":"q"}]"#)
        _ = try await cache.pull("talks", #"[{"id":"t","owner_id":"p","helper_id":"q"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t"},{"id":"b","talk_id":"t"}]"#)
        return cache
    }

    private func change(_ cache: TestCache, _ entity: String) throws -> OutboxChange {
        try #require(try cache.store.readyChanges(limit: 10, at: now).first { $0.entity == entity })
    }

    @Test("deny: a record that others refer to cannot be deleted, and the error counts them")
    func denied() async throws {
        let cache = try await cache()
        let error = await #expect(throws: CacheError.self) { try await cache.store.delete("people", key: "p", at: now) }
        #expect(error == .conflict("people/p still has 1 talks; delete or move them first"))
        try await cache.store.delete("talks", key: "t", at: now)
        try await cache.store.delete("people", key: "p", at: now)
        #expect(try cache.record("people", "p") == nil)
    }

    @Test("cascade: children are hidden at once, return on discard, and are deleted on confirmation")
    func cascades() async throws {
        let cache = try await cache()
        try await cache.store.delete("talks", key: "t", at: now)
        #expect(try cache.keys(ListQuery(entity: "lines")).isEmpty)
        // A page still has one of them, and a new one.
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t","text":"x"},{"id":"c","talk_id":"t"}]"#)
        #expect(try cache.keys(ListQuery(entity: "lines")).isEmpty)
        try await cache.store.discard(change(cache, "talks").id, cascade: false, at: now)
        #expect(try cache.keys(ListQuery(entity: "lines")) == ["a", "b", "c"])
        #expect(try cache.values("talks", "t", "line_count") == ["3"])
        try await cache.store.delete("talks", key: "t", at: now)
        let reopened = try cache.reopened(schema: DerivedFieldSchema.yaml)
        #expect(try reopened.store.pendingCount().pending == 1)
        try await reopened.send(.acknowledged(record: nil))
        #expect(try reopened.store.rowCounts()["lines"] == 0)
    }

    @Test("cascade: a child's creation that is refused after its owner's deletion does not hold that up")
    func refusedChild() async throws {
        let cache = try await cache()
        let key = try await cache.make("lines", #"{"talk_id":"t"}"#)
        let creation = try change(cache, "lines")
        #expect(try await cache.store.begin(creation, at: now))
        try await cache.store.delete("talks", key: "t", at: now)
        try await cache.store.finish(creation.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        #expect(try cache.store.readyChanges(limit: 10, at: now).map(\.entity) == ["talks"])
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try cache.record("lines", key) == nil)
    }

    private static let withoutLines = DerivedFieldSchema.yaml.components(separatedBy: "\n  lines:\n")[0]
        .replacing("    many:\n      lines: { of: lines, by: talk_id, on_delete: cascade }", with: "")
        .split(separator: "\n").filter { !$0.contains(" lines") && !$0.contains("unread_count") }.joined(
            separator: "\n")

    @Test("cascade: a deletion does not wait for that of a child whose entity the schema no longer has")
    func lostChild() async throws {
        let cache = try await cache()
        try await cache.store.delete("lines", key: "a", at: now)
        try await cache.store.delete("talks", key: "t", at: now)
        #expect(try cache.store.readyChanges(limit: 10, at: now).map(\.entity) == ["lines"])
        let reopened = try cache.reopened(schema: Self.withoutLines)
        #expect(try reopened.store.readyChanges(limit: 10, at: now).map(\.entity) == ["talks"])
    }

    @Test("cascade: nor where an earlier version has opened the database with that schema")
    func lostEarlier() async throws {
        let cache = try await cache()
        try await cache.store.delete("lines", key: "a", at: now)
        try await cache.store.delete("talks", key: "t", at: now)
        let earlier = try cache.reopened(schema: Self.withoutLines)
        try await DatabaseQueue(path: earlier.path).write { db in
            try db.execute(sql: "INSERT INTO sync_dependency SELECT max(id), min(id) FROM sync_outbox")
        }
        #expect(try earlier.store.readyChanges(limit: 10, at: now).isEmpty)
        let reopened = try earlier.reopened(schema: Self.withoutLines)
        #expect(try reopened.store.readyChanges(limit: 10, at: now).map(\.entity) == ["talks"])
    }

    @Test("cascade: a deletion waits for a child that was moved away, also when the schema no longer has its entity")
    func lostMove() async throws {
        let cache = try await cache()
        _ = try await cache.pull("talks", #"[{"id":"u"}]"#)
        try await cache.change("lines", "a", #"{"talk_id":"u"}"#)
        try await cache.store.delete("talks", key: "t", at: now)
        let reopened = try cache.reopened(schema: Self.withoutLines)
        #expect(try reopened.store.readyChanges(limit: 10, at: now).isEmpty)
    }

    @Test("cascade: a child without derived fields that a page brings is hidden until the deletion is discarded")
    func plainChild() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"o"}]"#)
        try await cache.store.delete("orders", key: "o", at: now)
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"o"}]"#)
        #expect(try cache.record("messages", "m") == nil)
        try await cache.store.discard(change(cache, "orders").id, cascade: false, at: now)
        #expect(try cache.record("messages", "m") != nil)
    }

    @Test("cascade: children that exist only in the queue are dropped with their parent")
    func givenUp() async throws {
        let cache = try await cache()
        _ = try await cache.make("lines", #"{"talk_id":"t"}"#)
        try await cache.change("lines", "a", #"{"text":"edited"}"#)
        try await cache.store.delete("talks", key: "t", at: now)
        #expect(try cache.store.readyChanges(limit: 10, at: now).map(\.operation) == [.delete])
        let talk = try await cache.make("talks", "{}")
        _ = try await cache.make("lines", #"{"talk_id":"\#(talk)"}"#)
        try await cache.store.delete("talks", key: talk, at: now)
        #expect(try cache.store.pendingCount().pending == 1)
    }

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 10, at: now).map { "\($0.operation.rawValue) \($0.entity)" }
    }

    @Test("deny: the deletion waits for the deletions and moves that made it possible", arguments: [true, false])
    func waitsForDenied(isDeleted: Bool) async throws {
        let cache = try await cache()
        if isDeleted {
            try await cache.store.delete("talks", key: "t", at: now)
        } else {
            try await cache.change("talks", "t", #"{"owner_id":"q"}"#)
        }
        try await cache.store.delete("people", key: "p", at: now)
        #expect(try ready(cache) == [isDeleted ? "delete talks" : "update talks"])
        try await cache.send(.acknowledged(record: nil))
        #expect(try ready(cache) == ["delete people"])
    }

    @Test("cascade: the deletion waits for what takes a record away, at every level", arguments: [nil, "u"])
    func waitsForMoved(to talk: String?) async throws {
        let cache = try await cache()
        _ = try await cache.pull("talks", #"[{"id":"u"}]"#)
        let place = talk.map { "\"\($0)\"" } ?? "null"
        try await cache.change("lines", "a", #"{"talk_id":\#(place)}"#)
        try await cache.store.delete("talks", key: "t", at: now)
        #expect(try ready(cache) == ["update lines"])
        try await cache.send(.failed(PushFailure(.refused, message: "no")))
        #expect(try ready(cache).isEmpty)
        #expect(try cache.store.pending(PendingQuery(limit: 10)).changes.map { $0["state"] } == ["failed", "blocked"])
    }

    @Test("cascade: the deletion waits for the move of a record whose creation was sent below it")
    func waitsForCreated() async throws {
        let cache = try await cache()
        let line = try await cache.make("lines", #"{"talk_id":"t"}"#)
        try await cache.send(.waiting(PushFailure(.timeout, message: "late"), at: now, counted: true))
        try await cache.change("lines", line, #"{"talk_id":null}"#)
        try await cache.store.delete("talks", key: "t", at: now)
        #expect(try ready(cache) == ["create lines"])
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"l","talk_id":"t"}"#)))
        #expect(try ready(cache) == ["update lines"])
    }

    @Test("nullify: the reference is set to null by a change sent first, and is restored on discard")
    func nullified() async throws {
        let cache = try await cache()
        try await cache.store.delete("people", key: "q", at: now)
        #expect(try cache.values("talks", "t", "helper_id") == ["null"])
        let first = try #require(try cache.store.readyChanges(limit: 10, at: now).first)
        #expect(first.entity == "talks" && first.body.text == #"{"helper_id":null}"#)
        #expect(try cache.store.readyChanges(limit: 10, at: now).count == 1)
        let deletion = try #require(try cache.store.pending(PendingQuery(limit: 10)).changes.last?["id"]?.integer)
        try await cache.store.discard(Int64(deletion), cascade: false, at: now)
        #expect(try cache.values("talks", "t", "helper_id") == [#""q""#])
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test("nullify by the server: the reference becomes null locally, without a change and without a conflict")
    func nullifiedThere() async throws {
        let cache = try await cache()
        try await cache.change("talks", "t", #"{"helper_id":"p"}"#)
        _ = try await cache.pull("people", #"[{"id":"q","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.values("talks", "t", "helper_id") == [#""p""#])
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts.isEmpty)
        try await cache.store.discard(change(cache, "talks").id, cascade: false, at: now)
        #expect(try cache.values("talks", "t", "helper_id", "owner_id") == ["null", #""p""#])
    }
}

extension DeleteRuleTests {
    @Test("records that cascade to one another in a cycle can be deleted")
    func ring() async throws {
        let schema = """
            schema: ring
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, above_id: { type: reference, to: notes } }
                many: { below: { of: notes, by: above_id, on_delete: cascade } }
                pull: { path: /notes }
                push: { delete: { call: "DELETE /notes/{id}" } }
            """
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("notes", #"[{"id":"a","above_id":"b"},{"id":"b","above_id":"a"},{"id":"c"}]"#)
        try await cache.store.delete("notes", key: "a", at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "notes")) == ["c"])
    }
}
