import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("What the server sets with an edit from here, in a field that a later edit sets")
struct OwnEffectTests {
    private let now = TestCache.now

    /// The record, changed so many seconds after the edits.
    private func record(_ members: String, after seconds: Int) -> String {
        #"{"id":"a",\#(members),"updated_at":"\#((now + .seconds(seconds)).description)"}"#
    }

    /// With an edit of the status that is being sent, and an edit of the notes that waits for it.
    private func waiting(_ policy: String = "last_write_wins") async throws -> (TestCache, OutboxChange) {
        let before = record(#""status":"open","notes":"n""#, after: -60)
        let cache = try await TestCache.with(orders: "[\(before)]", conflict: policy)
        try await cache.change("orders", "a", #"{"status":"ready"}"#)
        let edit = try await cache.begun()
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        return (cache, edit)
    }

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 9, at: now).map(\.body.text)
    }

    private func conflicts(_ cache: TestCache) throws -> [JSONText] {
        try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts
    }

    @Test("the time of the answer is that of the edit itself, so the later edit wins and is sent")
    func answered() async throws {
        let (cache, edit) = try await waiting()
        let answer = record(#""status":"ready","notes":"set with it""#, after: 60)
        try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try ready(cache) == [#"{"notes":"mine"}"#])
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        let conflict = try #require(try conflicts(cache).first)
        #expect(conflict["winner"] == "local" && conflict["server"] == "set with it")
        #expect(conflict["server_at"]?.string == nil)
        _ = try await cache.pull("orders", "[\(answer)]")
        #expect(try ready(cache) == [#"{"notes":"mine"}"#])
        #expect(try conflicts(cache).count == 1, "nothing new is decided")
    }

    @Test("so it is where the answer had no record, and the record that was read after it is as old")
    func readAfter() async throws {
        let (cache, edit) = try await waiting()
        let read = record(#""status":"ready","notes":"set with it""#, after: 60)
        let outcome = PushOutcome.acknowledged(
            record: try JSONText(parsing: read), view: .single, appliedAt: now + .seconds(60))
        try await cache.store.finish(edit.id, outcome, at: now)
        #expect(try ready(cache) == [#"{"notes":"mine"}"#])
    }

    @Test("a version that is later than the answer is that of others")
    func others() async throws {
        let (cache, edit) = try await waiting()
        let read = record(#""status":"ready","notes":"theirs""#, after: 90)
        let outcome = PushOutcome.acknowledged(
            record: try JSONText(parsing: read), view: .single, appliedAt: now + .seconds(60))
        try await cache.store.finish(edit.id, outcome, at: now)
        #expect(try ready(cache).isEmpty)
        #expect(try conflicts(cache).first?["winner"] == "server")
    }

    @Test("other policies decide as ever", arguments: ["server_wins", "manual"])
    func policies(policy: String) async throws {
        let (cache, edit) = try await waiting(policy)
        let answer = record(#""status":"ready","notes":"set with it""#, after: 60)
        try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try ready(cache).isEmpty)
        #expect(try conflicts(cache).first?["winner"]?.string == (policy == "manual" ? nil : "server"))
    }
}
