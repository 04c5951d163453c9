import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// A patch version adds no migration (`scripts/release` refuses one), so its database has the tables that this version knows.
/// What it may add are words in them.
@Suite("Opening the database of a later patch version")
struct LaterPatchTests {
    private static let hook = HookRule(name: "all", events: [.created, .changed], entity: "orders")

    /// A setting, a hook, a kind of entry in the change log, and an event that this version does not know.
    private static let later = """
        INSERT INTO sync_setting VALUES ('later', 'x');
        INSERT INTO sync_hook (name, position) VALUES ('later', 0);
        INSERT INTO sync_change_log (seq, at, kind, entity, keys, detail, last_change, steps)
          SELECT seq + 1, at, 'later', 'orders', '["a"]', '{"later":true}', last_change, steps
          FROM sync_change_log ORDER BY seq DESC LIMIT 1;
        INSERT INTO sync_change_log (seq, at, kind, entity, keys, detail, last_change, steps)
          SELECT seq + 1, at, 'hook', 'orders', '["a"]', '{"event":"later","hooks":["all"]}', last_change, steps
          FROM sync_change_log ORDER BY seq DESC LIMIT 1;
        INSERT INTO sync_hook_parked (hook, event, attempt_count, reason, parked_at) VALUES
          ('all', '{"event":"later","seq":1,"at":"2026-11-21T10:42:00.000Z"}', 3, 'no', 0),
          ('all', '{"event":"created","seq":1,"at":"2026-11-21T10:42:00.000Z","entity":"orders","id":"a"}', 3, 'no', 0);
        """

    private func addLater(to cache: TestCache) throws {
        try cache.store.pool.writeWithoutTransaction { db in try db.execute(sql: Self.later) }
    }

    /// As after a downgrade, with an edit that is not sent yet and one that comes after it.
    private func older() async throws -> TestCache {
        let cache = try TestCache(hooks: [Self.hook])
        try await cache.store.startHooks()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"x"}]"#)
        try await edit(cache, "y")
        try addLater(to: cache)
        let older = try cache.reopened(hooks: [Self.hook])
        try await older.store.startHooks()
        try await edit(older, "z")
        return older
    }

    private func edit(_ cache: TestCache, _ notes: JSONText) async throws {
        try await cache.store.update("orders", key: "a", body: .object(["notes": notes]), at: TestCache.now)
    }

    @Test
    func `what it has queued is sent, and what is unknown stays`() async throws {
        let cache = try await older()
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        #expect(change.storedBody["notes"] == "z")
        _ = try await cache.store.begin(change, at: TestCache.now)
        try await cache.store.finish(change.id, .acknowledged(record: nil), at: TestCache.now)
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try cache.store.setting("later") == "x")
    }

    @Test
    func `watchers get an unknown entry as it is, and a hook goes on after an unknown event`() async throws {
        let cache = try await older()
        let kinds = try cache.store.changes(since: 0, limit: 100).events.map(\.kind)
        #expect(kinds.contains("later"))
        var (position, told): (Int64, [HookEvent]) = (0, [])
        while true {
            let scan = try cache.store.nextOccurrence(for: Self.hook, after: position, at: TestCache.now)
            position = scan.position
            if let found = scan.occurrence { told.append(found.event) }
            guard scan.hasMore else { break }
        }
        #expect(told == [.created, .changed, .changed])
        try await cache.store.write(at: TestCache.now) { try $0.retryHook("all", nil) }
        #expect(try cache.store.parkedToRetry("all")?.occurrence.event == .created)
    }
}
