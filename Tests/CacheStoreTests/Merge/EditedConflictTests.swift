import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Edits of records with an open conflict")
struct EditedConflictTests {
    private let now = TestCache.now

    /// A record whose notes are changed here, then as `theirs` says, then here again.
    private func cache(_ theirs: String) async throws -> TestCache {
        let cache = try await TestCache.with(orders: #"[{"id":"a","notes":"n","total":1}]"#, conflict: "manual")
        try await edit(cache, "mine", at: now)
        _ = try await cache.pull("orders", "[\(theirs)]")
        try await edit(cache, "mine, later", at: now + .seconds(60))
        return cache
    }

    private func edit(_ cache: TestCache, _ notes: String, at time: Timestamp) async throws {
        let body = JSONText.object(["notes": .string(notes)])
        try await cache.store.update("orders", key: "a", body: body, at: time, clockOffset: .zero)
    }

    private func conflict(_ cache: TestCache) throws -> JSONText {
        try #require(try cache.store.conflicts(before: nil, open: false, limit: 100).conflicts.first)
    }

    private func resolve(_ cache: TestCache) async throws {
        let id = Int64(try #require(try conflict(cache)["id"]?.integer))
        try await cache.store.resolve(id, for: .server, at: now + .seconds(90))
    }

    @Test("the server's side is chosen: the conflict keeps the last local value, and an undo brings that back")
    func field() async throws {
        let cache = try await cache(#"{"id":"a","notes":"theirs","total":1}"#)
        try await resolve(cache)
        let decided = try conflict(cache)
        #expect(decided["base"] == "n" && decided["local"] == "mine, later" && decided["server"] == "theirs")
        #expect(decided["local_at"]?.string == (now + .seconds(60)).description)
        #expect(try cache.record("orders", "a")?["notes"] == "theirs")
        let id = Int64(try #require(decided["id"]?.integer))
        try await cache.store.undo(id, at: now + .seconds(120))
        #expect(try cache.record("orders", "a")?["notes"] == "mine, later")
    }

    @Test("the same of a record that was deleted on the server")
    func deletedThere() async throws {
        let cache = try await cache(#"{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}"#)
        try await resolve(cache)
        let decided = try conflict(cache)
        #expect(decided["local"]?["notes"] == "mine, later" && decided["local"]?["total"] == 1)
        #expect(try cache.record("orders", "a") == nil)
        let id = Int64(try #require(decided["id"]?.integer))
        try await cache.store.undo(id, at: now + .seconds(120))
        #expect(try cache.record("orders", "a")?["notes"] == "mine, later")
    }
}
