import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Database copies and restores")
struct DatabaseCopyTests {
    private func restore(
        _ backup: String, to path: String, _ schema: EntitySchema? = nil
    ) async throws -> DatabaseRestore.Report {
        try await DatabaseRestore(
            path: path, schema: schema ?? RescueFixture.schema(), sealer: RescueFixture.sealer(),
            makeID: { UUID().uuidString }
        ).run(from: backup, at: RescueFixture.later)
    }

    @Test("a copy made during writes is consistent, private to its owner, and one file")
    func underLoad() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.create(
                            "orders", body: .object(["notes": .string("\(writer) \(number)")]), at: RescueFixture.now)
                    }
                }
            }
            for number in 0..<5 { try await store.backUp(to: fixture.path + ".copy\(number)") }
            try await group.waitForAll()
        }
        for number in 0..<5 {
            let copy = fixture.path + ".copy\(number)"
            #expect(try DatabaseCopy.problems(of: copy).isEmpty)
            let (rows, changes) = try newOrders(in: copy)
            #expect(rows == changes)
            let attributes = try FileManager.default.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
        }
    }

    @Test("between the steps of a copy, other writes run and are copied too, and the log is checkpointed")
    func steps() async throws {
        let fixture = try await RescueFixture()
        let pool = fixture.cache.store.pool
        try await pool.write { db in try db.execute(sql: "CREATE TABLE written (number INTEGER, ballast)") }
        var copying = CopyInSteps(writer: pool, pagesPerStep: 1)
        var steps = 0
        copying.afterStep = {
            steps += 1
            guard steps <= 20 else { return }
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO written VALUES (?, randomblob(10000))", arguments: [steps])
                // Throws while any reader uses the log.
                _ = try db.checkpoint(.truncate)
            }
        }
        let target = fixture.path + ".copy"
        try DatabaseCopy.make(of: fixture.path, at: target, copyPages: copying.copy)
        #expect(steps > 20)
        #expect(try DatabaseCopy.problems(of: target).isEmpty)
        let copied = try await DatabaseQueue(path: target).read { db in
            try Int.fetchAll(db, sql: "SELECT number FROM written ORDER BY number")
        }
        #expect(copied == Array(1...20))
    }

    private static let searchedShop = TestCache.shop.replacing(
        "notes: { type: string }", with: "notes: { type: string, search: true }")

    /// Restores a backup in whose full-text index another program has run `sql`, and finds its only record.
    private func found(after sql: String) async throws -> Int {
        let cache = try TestCache(schema: Self.searchedShop)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"kettle"}]"#)
        let backup = cache.path + ".copy"
        try await cache.store.backUp(to: backup)
        let copy = try DatabaseQueue(path: backup)
        try await copy.write { db in try db.execute(sql: sql) }
        try copy.close()
        try cache.store.close()
        _ = try await restore(backup, to: cache.path, EntitySchema(yaml: Self.searchedShop, file: "shop.yaml"))
        let restored = try TestCache(schema: Self.searchedShop, in: cache.folder)
        return try await restored.store.search(SearchQuery("kettle"), limit: 10).hits.count
    }

    @Test(
        "a backup with a full-text index that another program has broken is refused, and not restored to fail later",
        arguments: [
            "UPDATE sync_orders_words_config SET v = 99 WHERE k = 'version'", "DELETE FROM sync_orders_words_data",
        ])
    func brokenIndex(_ sql: String) async throws {
        let error = await #expect(throws: CacheError.self) { _ = try await found(after: sql) }
        #expect(error?.incompatibility?.contains("a full-text index that is not one") == true)
    }

    @Test("an index of a backup that another program has emptied is built again, and finds every record")
    func emptiedIndex() async throws {
        #expect(try await found(after: "UPDATE sync_orders_words_data SET block = x'00'") == 1)
    }

    @Test("a copy to a target that cannot be written fails, and the database stays writable")
    func unwritableStep() async throws {
        let fixture = try await RescueFixture()
        let pool = fixture.cache.store.pool
        let full = try DatabaseQueue(path: fixture.path + ".copy")
        try await full.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA max_page_count = 3") }
        #expect(throws: DatabaseError.self) { try CopyInSteps(writer: pool, pagesPerStep: 1).copy(to: full) }
        _ = try await fixture.cache.pull("orders", #"[{"id":"c"}]"#)
        #expect(try fixture.cache.record("orders", "c") != nil)
    }

    /// Counts the records that only the queue has, and the changes that create them.
    private func newOrders(in path: String) throws -> (rows: Int?, changes: Int?) {
        try DatabaseQueue(path: path).read { db in
            let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM records_orders WHERE _remote IS NULL")
            let changes = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM sync_outbox WHERE entity = 'orders' AND operation = 'create'")
            return (rows, changes)
        }
    }

    @Test("a copy never overwrites a file")
    func existing() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        #expect(throws: CacheError.self) { try DatabaseCopy.make(of: fixture.path, at: backup) }
    }

    @Test("a damaged database cannot be copied")
    func damaged() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        try fixture.overwrite(at: fixture.page(of: "sync_drift"), with: Array(repeating: 0xFF, count: 8))
        let copy = fixture.path + ".copy"
        #expect(throws: CacheError.self) { try DatabaseCopy.make(of: fixture.path, at: copy) }
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test("a restore starts a new epoch, keeps the replaced file, and has the backup's records")
    func epoch() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        let before = fixture.cache.store.epoch
        _ = try await fixture.cache.pull("orders", #"[{"id":"c"}]"#)
        try fixture.cache.store.close()
        let report = try await restore(backup, to: fixture.path)
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(cache.store.epoch != before)
        #expect(try cache.record("orders", "c") == nil)
        #expect(try cache.record("orders", "b") != nil)
        let replaced = try #require(report.replaced)
        #expect(try DatabaseCopy.problems(of: replaced).isEmpty)
    }

    @Test("a restore neither resends changes acknowledged since the backup nor loses changes written since")
    func queue() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await fixture.sendFirst()
        try await fixture.cache.store.update(
            "orders", key: "b", body: .object(["notes": "late"]), at: RescueFixture.now)
        let before = try fixture.queue()
        try fixture.cache.store.close()
        let report = try await restore(backup, to: fixture.path)
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.queued == 3 && report.uncertain == 0)
        #expect(try cache.record("orders", "a")?["status"]?.string == "open")
        #expect(try cache.record("orders", "b")?["notes"]?.string == "late")
    }

    @Test("on another machine, the changes of a backup count as possibly sent")
    func elsewhere() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        let folder = try TemporaryFolder()
        let report = try await restore(backup, to: folder.path("cache.db"))
        #expect(report.replaced == nil && report.uncertain == 3)
        let cache = try TestCache(in: folder)
        #expect(try RescueFixture.queue(cache.store).map(\.key) == fixture.queue().map(\.key))
        #expect(try !RescueFixture.queue(cache.store).map(\.tried).contains(false))
        #expect(try cache.store.pendingCount().pending == 3)
    }

    private static let foreignSQL: [(sql: String, name: String)] = [
        (
            """
            CREATE TRIGGER evil BEFORE INSERT ON sync_outbox BEGIN
              SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);
            END
            """, "evil"
        ),
        ("CREATE TRIGGER evil AFTER DELETE ON sync_setting BEGIN UPDATE sync_outbox SET body = '{}'; END", "evil"),
        (
            """
            DROP TRIGGER sync_conflict_opened;
            CREATE TRIGGER sync_conflict_opened AFTER INSERT ON sync_conflict BEGIN DELETE FROM sync_outbox; END
            """, "sync_conflict_opened"
        ),
        (
            """
            ALTER TABLE sync_cursor RENAME TO sync_cursor_old;
            CREATE VIEW sync_cursor AS SELECT * FROM sync_cursor_old
            """, "sync_cursor"
        ),
        ("CREATE INDEX evil ON sync_outbox (id) WHERE length(body) > 1", "evil"),
        ("CREATE TABLE evil (name TEXT)", "evil"),
        ("ALTER TABLE sync_alias ADD COLUMN evil TEXT CHECK (evil <> 'a')", "sync_alias"),
        (#"ALTER TABLE records_orders ADD COLUMN "evil" TEXT CHECK (evil <> 'a')"#, "records_orders"),
        (#"ALTER TABLE records_orders ADD COLUMN "evil" TEXT DEFAULT 'a'"#, "records_orders"),
        ("UPDATE records_orders SET _pk = 9223372036854775807 WHERE _key = 'a'", "records_orders"),
        ("UPDATE records_orders SET _deleted = 'no' WHERE _key = 'a'", "records_orders"),
        ("UPDATE sync_tally SET count = -9223372036854775807", "sync_tally"),
        ("UPDATE sync_change_log SET change_id = 9223372036854775807 WHERE change_id = 1", "sync_change_log"),
        ("UPDATE sync_outbox SET id = 9223372036854775807 WHERE id = 3", "sync_outbox"),
        ("UPDATE sync_outbox SET known_pk = 9223372036854775807 WHERE id = 1", "sync_outbox"),
        (#"UPDATE sync_outbox SET edited = '{"status":9223372036854775807}' WHERE id = 1"#, "edited.status"),
        ("UPDATE records_orders SET _local = '' WHERE _key = 'a'", "records_orders"),
        ("UPDATE sync_change_log SET keys = 'a'", "sync_change_log"),
        ("UPDATE sync_change_log SET fields = '[]' || char(0) WHERE change_id = 1", "sync_change_log"),
        ("UPDATE sync_change_log SET detail = '{' WHERE change_id = 1", "sync_change_log"),
        (
            // Nested 600 levels.
            """
            UPDATE sync_change_log
            SET detail = replace(hex(zeroblob(300)), '0', '[') || replace(hex(zeroblob(300)), '0', ']')
            WHERE change_id = 1
            """, "sync_change_log"
        ),
        ("INSERT OR REPLACE INTO sync_cursor (entity, pull) VALUES ('orders', '[')", "sync_cursor"),
        ("UPDATE records_messages SET _remote = '{'", "records_messages"),
        ("UPDATE records_orders SET _derived = 'x' WHERE _key = 'b'", "records_orders"),
        ("UPDATE sync_outbox SET body = '{' WHERE id = 1", "sync_outbox"),
        ("UPDATE sync_outbox SET body = '[]' WHERE id = 1", "change 1"),
        ("UPDATE sync_outbox SET sent = '{' WHERE id = 1", "sync_outbox"),
        (
            """
            INSERT INTO sync_conflict (at, change_id, entity, record_key, operation, field, base, rule, winner)
            VALUES (0, 1, 'orders', 'a', 'update', 'status', '{', 'manual', 'local')
            """, "sync_conflict"
        ),
        ("INSERT INTO sync_view VALUES ('orders', 'a', '[')", "sync_view"),
        ("INSERT OR REPLACE INTO sync_setting VALUES ('secrets:orders', '[')", "a list of sealed fields"),
        ("INSERT OR REPLACE INTO sync_setting VALUES ('log_floor', '9223372036854775807')", "log_floor"),
        ("INSERT OR REPLACE INTO sync_setting VALUES ('clock_offset_ms', '-9223372036854775808')", "clock_offset_ms"),
        ("INSERT OR REPLACE INTO sync_setting VALUES ('window-time:a', '1 9223372036854775807')", "window-time:a"),
        ("DROP TABLE sync_drift; CREATE VIRTUAL TABLE sync_drift USING fts5(entity)", "sync_drift"),
        ("INSERT INTO sync_content (sha256, size, type, used_at) VALUES ('../api-token', 1, 'a/b', 0)", "../api-token"),
        ("UPDATE sync_outbox SET content = '../secret.key' WHERE id = 1", "../secret.key"),
        (
            """
            INSERT INTO sync_content (sha256, size, type, used_at)
            VALUES (printf('%064d', 1), 1, 'a/b' || char(13, 10) || 'X: y', 0)
            """, "0001"
        ),
    ]

    @Test(
        "a backup with SQL or file names of its own is refused before they run, and nothing is left",
        arguments: foreignSQL)
    func foreign(sql: String, name: String) async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await DatabaseQueue(path: backup).write { db in try db.execute(sql: sql) }
        try fixture.cache.store.close()
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.cache.folder.path).sorted()
        let error = await #expect(throws: CacheError.self) { try await restore(backup, to: fixture.path) }
        #expect(error?.incompatibility?.contains(name) == true)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.cache.folder.path).sorted() == files)
    }

    @Test("an index of another schema, and the tables of Litestream, are no part of what is restored")
    func extras() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(
                sql: """
                    ALTER TABLE records_orders ADD COLUMN "former" NUMERIC;
                    CREATE INDEX orders_by_former ON records_orders (former) WHERE _deleted = 0;
                    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
                    CREATE TABLE _litestream_lock (id INTEGER);
                    ANALYZE
                    """)
        }
        try fixture.cache.store.close()
        #expect(try await restore(backup, to: fixture.path).queued == 3)
        let left = try await DatabaseQueue(path: fixture.path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_schema
                    WHERE name = 'orders_by_former' OR name GLOB '_litestream*' OR name GLOB 'sqlite_stat*'
                    UNION ALL SELECT name FROM pragma_table_info('records_orders') WHERE name = 'former'
                    """)
        }
        #expect(left == [])
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(try cache.record("orders", "b") != nil)
    }

    @Test("a view in place of a table is found before the table is read")
    func viewInPlace() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try DatabaseRestore.requireTables(in: backup, RescueFixture.schema())
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(
                sql: """
                    DROP TABLE sync_setting;
                    CREATE VIEW sync_setting AS
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS name, i AS value FROM n
                    """)
        }
        #expect(throws: CacheError.self) {
            try DatabaseRestore.requireTables(in: backup, RescueFixture.schema())
        }
        let text = fixture.cache.folder.path("text.db")
        try Data("no database".utf8).write(to: URL(filePath: text))
        try DatabaseRestore.requireTables(in: text, RescueFixture.schema())
    }

    @Test("an entity's view and a trigger on its records are replaced by those of the schema")
    func ownViews() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(
                sql: """
                    DROP VIEW orders;
                    CREATE VIEW orders AS SELECT 1 AS id;
                    CREATE TRIGGER evil AFTER UPDATE ON records_orders BEGIN DELETE FROM sync_outbox; END
                    """)
        }
        try fixture.cache.store.close()
        let report = try await restore(backup, to: fixture.path)
        #expect(report.queued == 3)
        let ids = try await DatabaseQueue(path: fixture.path).read { db in
            try String.fetchAll(db, sql: "SELECT id FROM orders WHERE id IN ('a', 'b') ORDER BY id")
        }
        #expect(ids == ["a", "b"])
    }

    @Test("a backup replaces the database of a newer version, whose queue stays, with what came since the backup")
    func olderVersion() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        let store = fixture.cache.store
        try await store.update("orders", key: "b", body: .object(["status": "ready"]), at: RescueFixture.now)
        try await fixture.sendFirst()
        let before = try fixture.queue()
        // A newer version may add columns and tables, and nothing else that a queue depends on.
        try await store.pool.write { db in
            try db.execute(
                sql: """
                    INSERT INTO grdb_migrations VALUES ('999: from the future');
                    ALTER TABLE sync_outbox ADD COLUMN later TEXT NOT NULL DEFAULT 'x'; CREATE TABLE sync_later (id)
                    """)
        }
        try store.close()
        let report = try await restore(backup, to: fixture.path)
        #expect(report.queued == 3 && report.since == 1 && report.uncertain == 0 && report.lost.isEmpty)
        let reopened = try TestCache(in: fixture.cache.folder)
        #expect(try RescueFixture.queue(reopened.store).map(\.key) == before.map(\.key))
        try reopened.store.close()
        let replaced = try #require(report.replaced)
        #expect(
            DatabasePreview(path: replaced).isOfNewerVersion && !DatabasePreview(path: fixture.path).isOfNewerVersion)
    }

    @Test("a backup of a newer version is refused, and the database is unchanged")
    func newer() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')")
        }
        try fixture.cache.store.close()
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        await #expect(throws: CacheError.self) { try await restore(backup, to: fixture.path) }
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before)
    }
}
