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

    private func restore(_ backup: String, to path: String, _ schema: EntitySchema? = nil) async throws {
        _ = try await DatabaseRestore(
            path: path, schema: schema ?? RescueFixture.schema(), sealer: RescueFixture.sealer(),
            makeID: { UUID().uuidString }
        ).run(from: backup, at: RescueFixture.later)
    }
}
