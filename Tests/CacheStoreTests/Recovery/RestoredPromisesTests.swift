import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("What a restore keeps of the database that it replaces")
struct RestoredPromisesTests {
    @Test("a restore takes the newer record of a queued edit, so that no older value conflicts with it")
    func newerRecord() async throws {
        let yaml = TestCache.shop.replacing(
            "    sort: -created_at", with: "    sort: -created_at\n    conflict: server_wins")
        let first = #"[{"id":"a","notes":"first","updated_at":"2026-01-01T00:00:00Z"}]"#
        let cache = try TestCache(schema: yaml)
        _ = try await cache.pull("orders", first)
        let backup = cache.folder.path("backup.db")
        try DatabaseCopy.make(of: cache.path, at: backup)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"second","updated_at":"2026-01-02T00:00:00Z"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        try cache.store.close()
        try await restore(backup, to: cache.path, EntitySchema(yaml: yaml, file: "shop.yaml"))
        let restored = try TestCache(schema: yaml, in: cache.folder)
        // The list may still be behind.
        _ = try await restored.pull("orders", first)
        #expect(try restored.record("orders", "a")?["notes"] == "mine")
        #expect(try restored.conflictCount() == 0 && restored.store.pendingCount().pending == 1)
    }

    @Test("a restore keeps the answers to repeatable calls and the keys that callers have had since the backup")
    func promises() async throws {
        let cache = try TestCache()
        let backup = cache.folder.path("backup.db")
        try DatabaseCopy.make(of: cache.path, at: backup)
        let call = RepeatableCall(key: "k", request: [1])
        let key = try await cache.make("orders", #"{"notes":"new"}"#)
        let answer = try await cache.store.write(once: call, at: RescueFixture.now) { _ in key }
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"ord_1","notes":"new"}"#)))
        try cache.store.close()
        try await restore(backup, to: cache.path)
        let restored = try TestCache(in: cache.folder)
        #expect(try await restored.store.write(once: call, at: RescueFixture.later) { _ in "twice" } == answer)
        _ = try await restored.pull("orders", #"[{"id":"ord_1","notes":"new"}]"#)
        #expect(try restored.record("orders", key)?["id"] == "ord_1")
    }

    @Test(
        "a creation that may have been sent since the backup is left to a person once its key may be forgotten",
        arguments: [(23, false, "queued"), (24, false, "failed"), (24, true, "queued")])
    func forgottenKeys(hours: Int, isLookedUp: Bool, state: String) async throws {
        let create = isLookedUp ? "{ call: POST /orders, look_up: key }" : "{ call: POST /orders }"
        let yaml = TestCache.shop
            .replacing("  pagination:", with: "  idempotency_header: Idempotency-Key\n  pagination:")
            .replacing("{ call: POST /orders }", with: create)
        let cache = try TestCache(schema: yaml)
        _ = try await cache.make("orders", #"{"notes":"new"}"#)
        let backup = cache.folder.path("backup.db")
        try DatabaseCopy.make(of: cache.path, at: backup)
        let folder = try TemporaryFolder()
        let later = RescueFixture.now + .seconds(3600 * hours)
        try await restore(backup, to: folder.path("cache.db"), EntitySchema(yaml: yaml, file: "shop.yaml"), at: later)
        let restored = try TestCache(schema: yaml, in: folder)
        let change = try #require(try restored.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change["state"]?.string == state)
        #expect(change.at(path: "error.class")?.string == (state == "failed" ? "unclear" : nil))
    }

    private func restore(
        _ backup: String, to path: String, _ schema: EntitySchema? = nil, at now: Timestamp = RescueFixture.later
    ) async throws {
        _ = try await DatabaseRestore(
            path: path, schema: schema ?? RescueFixture.schema(), sealer: RescueFixture.sealer(),
            makeID: { UUID().uuidString }
        ).run(from: backup, at: now)
    }
}
