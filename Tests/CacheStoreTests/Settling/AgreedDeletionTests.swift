import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// A record that was deleted here and, before that was acknowledged, is found to be gone.
@Suite("Settling: what both sides have deleted does not return because a list is behind")
struct AgreedDeletionTests {
    private let now = TestCache.now
    private let old = #"{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:00Z"}"#

    private func cache() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(old)]")
        return cache
    }

    private func list(_ cache: TestCache, _ records: String, after seconds: Int, view: RecordView = .list) async throws
    {
        let page = PulledPage(entity: "orders", records: records, position: try cache.store.position(), view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    @Test("a deletion whose answer was lost, and that the record then shows")
    func lostAnswer() async throws {
        let cache = try await cache()
        try await cache.store.delete("orders", key: "a", at: now)
        let deletion = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(deletion.id, .waiting(lost, at: now, counted: true), at: now)
        let tombstone = #"[{"id":"a","updated_at":"2026-01-01T00:00:05Z","deleted_at":"2026-01-01T00:00:05Z"}]"#
        try await list(cache, tombstone, after: 1, view: .single)
        #expect(try cache.store.pendingCount().pending == 0)
        try await list(cache, "[\(old)]", after: 2)
        #expect(try cache.record("orders", "a") == nil)
    }

    @Test("a deletion that waited while another client deleted the record")
    func deletedByOthers() async throws {
        let cache = try await cache()
        try await cache.store.delete("orders", key: "a", at: now)
        try await list(cache, #"[{"id":"a","deleted_at":"2026-01-01T00:00:05Z"}]"#, after: 1)
        try await list(cache, "[\(old)]", after: 2)
        #expect(try cache.record("orders", "a") == nil)
    }

    @Test("if a list still has it after the time to settle, it is read, and that answer counts")
    func restored() async throws {
        let cache = try await cache()
        try await cache.store.delete("orders", key: "a", at: now)
        try await list(cache, #"[{"id":"a","deleted_at":"2026-01-01T00:00:05Z"}]"#, after: 1)
        try await list(cache, "[\(old)]", after: 20)
        #expect(try await cache.store.unconfirmed(limit: 10, at: now + .seconds(62)).map(\.key) == ["a"])
        try await list(cache, "[\(old)]", after: 63, view: .single)
        #expect(try cache.record("orders", "a")?["notes"] == "A")
    }
}
