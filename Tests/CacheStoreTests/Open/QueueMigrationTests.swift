import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The queue of an older version")
struct QueueMigrationTests {
    /// What must be the same before and after.
    private static let kept = [
        """
        SELECT id, entity, record_key, operation, body, base, idempotency_key, order_group, state, attempt_count, tried,
          created_at, last_attempt_at, next_attempt_at, error_class, error_status, error_message, edited, known_pk, content
        FROM sync_outbox ORDER BY id
        """,
        "SELECT * FROM sync_dependency ORDER BY 1, 2", "SELECT * FROM sync_conflict ORDER BY id",
        "SELECT seq, at, kind, entity, keys, fields, change_id, detail FROM sync_change_log WHERE seq > 0 ORDER BY seq",
        "SELECT * FROM sync_content",
        "SELECT * FROM sync_tally WHERE name IN ('drift', 'set_aside', 'conflicts') ORDER BY name",
        "SELECT * FROM sync_carried", "SELECT * FROM sync_alias",
    ]

    @Test("keeps ids, order, keys, attempts, contents, conflicts, dependencies and the log, and never reuses an id")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        let before = try older(in: folder) { db in try Self.fill(db) }
        let cache = try TestCache(in: folder)
        // The changes have no records.
        cache.isDamaged = true
        for (rows, older) in zip(try Self.contents(cache.store.pool), before) { #expect(rows == older) }
        #expect(try cache.store.pendingCount() == PendingCount(pending: 4, failed: 1))
        #expect(try cache.store.summary().openConflicts == 1)
        let ready = try cache.store.readyChanges(limit: 8, at: Timestamp(milliseconds: 5000))
        #expect(ready.map(\.id) == [3, 9])
        #expect(ready.map(\.idempotencyKey) == ["key-3", "key-9"])
        let id = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: TestCache.now)
        #expect(try cache.store.newestChange() == 41, "\(id)")
    }

    @Test("an empty queue goes on after the greatest id that was ever used, even without a log")
    func empty() async throws {
        for hasLog in [true, false] {
            let folder = try TemporaryFolder()
            _ = try older(in: folder) { db in
                try Self.fill(db)
                try db.execute(sql: "DELETE FROM sync_outbox")
                if !hasLog { try db.execute(sql: "DELETE FROM sync_change_log; DELETE FROM sync_setting") }
            }
            let cache = try TestCache(in: folder)
            #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            #expect(try cache.store.changes(since: hasLog ? 7 : 0, limit: 8).events.isEmpty)
            _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: TestCache.now)
            #expect(try cache.store.newestChange() == 41)
        }
    }

    @Test("a new database begins with change 1, and an id is not reused when its change leaves")
    func fresh() async throws {
        let cache = try TestCache()
        for expected in 1...3 {
            let key = try await cache.store.create(
                "orders", body: JSONText(parsing: #"{"notes":"x"}"#), at: TestCache.now)
            #expect(try cache.store.newestChange() == Int64(expected))
            try await cache.store.delete("orders", key: key, at: TestCache.now)
            #expect(try cache.store.newestChange() == 0)
        }
    }

    @Test("nothing belongs to a change that left the queue, and no write pays for an index that no query needs")
    func structure() throws {
        let cache = try TestCache()
        let names = try cache.store.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_schema WHERE type IN ('index', 'trigger')
                      AND tbl_name IN ('sync_outbox', 'sync_dependency', 'sync_change_log') ORDER BY name
                    """)
        }
        #expect(
            names == [
                "sync_change_log_pulled", "sync_dependency_by_need", "sync_outbox_by_group", "sync_outbox_by_record",
                "sync_outbox_due", "sync_outbox_failed", "sync_outbox_ready",
            ])
    }

    // MARK: The older version

    /// Creates a database as the first nine migrations make it; returns what must be kept.
    private func older(in folder: TemporaryFolder, _ fill: (Database) throws -> Void) throws -> [[Row]] {
        let pool = try DatabasePool(path: folder.path("cache.db"))
        try Migrations.migrator().migrate(pool, upTo: "9: reminders")
        try pool.write(fill)
        let contents = try Self.contents(pool)
        try pool.close()
        return contents
    }

    private static func contents(_ pool: DatabasePool) throws -> [[Row]] {
        try pool.read { db in try kept.map { try Row.fetchAll(db, sql: $0) } }
    }

    /// A queue with changes in every state, of which some have left.
    private static func fill(_ db: Database) throws {
        let states = [(3, "queued"), (5, "failed"), (8, "waiting"), (9, "waiting"), (40, "queued")]
        for (id, state) in states {
            try db.execute(
                sql: """
                    INSERT INTO sync_outbox (id, entity, record_key, operation, body, base, idempotency_key, order_group,
                      state, attempt_count, tried, created_at, last_attempt_at, next_attempt_at, error_class,
                      error_status, error_message, edited, known_pk, content)
                    VALUES (?1, 'orders', 'r' || ?1, 'update', '{"notes":"' || ?1 || '"}', '{"notes":null}', 'key-' || ?1,
                      iif(?1 = 8, 'group', NULL), 'queued', 2, 3, 1000 + ?1, 1500, 4000, 'refused', 422, '…', '{"notes":7}',
                      12, NULL)
                    """,
                arguments: [id])
            try db.execute(sql: "UPDATE sync_outbox SET state = ? WHERE id = ?", arguments: [state, id])
        }
        try db.execute(
            sql: """
                INSERT INTO sync_content (sha256, size, type, used_at) VALUES ('abc', 3, 'image/png', 0);
                UPDATE sync_outbox SET content = 'abc' WHERE id = 5;
                INSERT INTO sync_dependency VALUES (40, 5), (8, 5);
                INSERT INTO sync_conflict (at, change_id, entity, record_key, operation, field, rule)
                VALUES (1, 8, 'orders', 'r8', 'update', 'notes', 'manual');
                INSERT INTO sync_change_log (seq, at, kind, entity, keys, fields, change_id, detail)
                VALUES (5, 1000, 'upserted', 'orders', '["r3","r5","r8"]', NULL, NULL, NULL),
                  (6, 1001, 'queued', 'orders', '["r3"]', '["notes"]', 3, '{"reason":"edited"}'),
                  (7, 1002, 'acknowledged', 'orders', '["r4"]', '["notes"]', 4, NULL);
                INSERT INTO sync_setting VALUES ('log_floor', '2');
                INSERT INTO sync_carried VALUES ('key-3', 1);
                INSERT INTO sync_alias VALUES ('orders', 'old', 'r3');
                DELETE FROM sync_outbox WHERE id = 8;
                INSERT INTO sync_outbox (id, entity, record_key, operation, body, base, idempotency_key, state, tried,
                  created_at, next_attempt_at)
                VALUES (8, 'orders', 'r8', 'update', '{"notes":"8"}', '{}', 'key-8', 'waiting', 1, 1008, 9000);
                INSERT INTO sync_dependency VALUES (8, 5);
                """)
    }
}
