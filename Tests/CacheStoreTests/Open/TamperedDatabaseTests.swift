import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Opening a database that another program has changed")
struct TamperedDatabaseTests {
    /// Harmless in quotes. Between two quotes that it can end, it makes a table.
    private static let name = "orders_by_status\"; CREATE TABLE IF NOT EXISTS run (a); --"

    private static let changes = [
        "CREATE INDEX \(name.quoted(by: "\"")) ON records_orders (_key)",
        "ALTER TABLE records_orders ADD COLUMN \(name.quoted(by: "\"")) TEXT",
        "INSERT INTO sync_search VALUES (\(name.quoted(by: "'")), '', 0)",
    ]

    @Test("SQL in the name of an index, a column or an entity is not run", arguments: changes)
    func names(change: String) async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.writer.write { db in
            try db.execute(sql: change)
            try db.execute(sql: "UPDATE sync_setting SET value = '' WHERE name = 'tables'")
        }
        let reopened = try cache.reopened()
        #expect(try reopened.store.snapshot { db in try !db.tableExists("run") })
        #expect(try reopened.record("orders", "a")?["status"] == "open")
    }

    @Test("no connection to it opens another file")
    func attach() throws {
        let cache = try TestCache()
        let other = cache.folder.path("other.db")
        let sql = "ATTACH \(other.quoted(by: "'")) AS other"
        #expect(throws: DatabaseError.self) {
            try cache.store.pool.writeWithoutTransaction { db in try db.execute(sql: sql) }
        }
        #expect(throws: DatabaseError.self) {
            try DatabaseFile.openReadOnly(cache.path).inDatabase { db in try db.execute(sql: sql) }
        }
        #expect(throws: DatabaseError.self) {
            try ReadConnection(path: cache.path).query(sql, []) { _ in true }
        }
        #expect(!FileManager.default.fileExists(atPath: other))
        // This one needs to attach its own copy.
        try cache.store.pool.writeWithoutTransaction { db in try db.vacuum() }
    }

    // MARK: Long values

    private func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// A store whose queue, or settings, got a value of another program, which SQLite itself would load.
    private func withLongValue(_ sql: String) async throws -> TestCache {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.store.create("orders", body: .object(["notes": "n"]), at: TestCache.now)
        let other = try DatabaseQueue(path: cache.path)
        try await other.write { db in
            try db.execute(sql: sql, arguments: [Int(ForeignFile.longestValue) + 1])
        }
        try other.close()
        return cache
    }

    @Test("a value in the queue that the daemon would never store is loaded by no connection, and the error says so")
    func longChange() async throws {
        let cache = try await withLongValue("UPDATE sync_outbox SET base = CAST(zeroblob(?) AS TEXT)")
        let sql = "SELECT base FROM sync_outbox"
        let said = "more than 64 MiB, which the daemon never stores"
        #expect(failure { _ = try ExportedQueue(ofDatabaseAt: cache.path) }.contains(said))
        #expect(failure { _ = try cache.store.snapshot { db in try String.fetchAll(db, sql: sql) } }.contains(said))
        #expect(
            failure {
                do {
                    try ReadConnection(path: cache.path).query(sql, []) { _ in true }
                } catch {
                    throw CacheError.classified(error)
                }
            }.contains(said))
    }

    @Test("a setting that the daemon would never store ends a summary with the same error")
    func longSetting() async throws {
        let cache = try await withLongValue("INSERT INTO sync_setting VALUES ('account', CAST(zeroblob(?) AS TEXT))")
        let said = failure { _ = try DatabaseSummary(ofDatabaseAt: cache.path) }
        #expect(said.contains("more than 64 MiB, which the daemon never stores"))
    }

    @Test("more settings than the daemon ever stores, which would all be held in memory, are refused in a backup")
    func manySettings() throws {
        let cache = try TestCache()
        let fill = "INSERT INTO sync_setting SELECT key, 'x' FROM json_each(?)"
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE sync_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            let check = BackupCheck(db: db, schema: cache.store.schema, path: "backup.db")
            let many = "{" + (1...SettingTable.most).map { "\"s\($0)\":1" }.joined(separator: ",") + "}"
            try db.execute(sql: fill, arguments: [many])
            try check.requireSettings()
            try db.execute(sql: fill, arguments: [#"{"one more":1}"#])
            #expect(failure { try check.requireSettings() }.contains("more than \(SettingTable.most) settings"))
        }
    }

    @Test(
        "a record that is no object, or whose deletion is neither queued nor not, is refused in a backup",
        arguments: ["_remote = '0'", "_local = ' []'", "_document = '\"{}\"'", "_deleted = 2"])
    func unusableRecord(change: String) async throws {
        let fixture = try await RescueFixture()
        let schema = fixture.cache.store.schema
        let backup = try fixture.backUp()
        let file = try DatabaseQueue(path: backup)
        try await file.write { db in
            let check = BackupCheck(db: db, schema: schema, path: "backup.db")
            try check.requireValues()
            try db.execute(sql: "UPDATE records_orders SET \(change)")
            #expect(failure { try check.requireValues() }.contains("a value in the table records_orders"))
        }
        try file.close()
    }

    @Test(
        "a record that would take minutes to compare is refused in a backup", arguments: ["notes", "not in the schema"])
    func marks(member: String) async throws {
        let fixture = try await RescueFixture()
        let schema = fixture.cache.store.schema
        let file = try DatabaseQueue(path: fixture.backUp())
        try await file.write { db in
            let check = BackupCheck(db: db, schema: schema, path: "backup.db")
            func change(_ marks: Int) throws {
                let sql = "UPDATE records_orders SET _remote = json_set(_remote, ?, ?)"
                let text = String(repeating: "\u{301}", count: marks)
                try db.execute(sql: sql, arguments: ["$.\"\(member)\"", text])
            }
            try change(MarkRun.longestStored)
            try check.requireValues()
            try change(MarkRun.longestStored + 1)
            #expect(failure { try check.requireValues() }.contains("a value in the table records_orders"))
        }
        try file.close()
    }

    @Test("more entities than schemas ever had, which would take hours to check, are refused in a backup")
    func manyTables() throws {
        let cache = try TestCache()
        let most = cache.store.schema.entities.count + 300
        try DatabaseQueue().write { db in
            let check = BackupCheck(db: db, schema: cache.store.schema, path: "backup.db")
            for number in 1...most { try db.execute(sql: "CREATE TABLE records_z\(number) (_pk INTEGER PRIMARY KEY)") }
            try check.requireOwnNames()
            try db.execute(sql: "CREATE TABLE records_one_more (_pk INTEGER PRIMARY KEY)")
            #expect(failure { try check.requireOwnNames() }.contains("more than \(most) entities"))
        }
    }

    // MARK: Views and triggers

    private func changedByAnother(_ sql: String) async throws -> TestCache {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.store.create("orders", body: .object(["notes": "n"]), at: TestCache.now)
        try cache.store.close()
        let other = try DatabaseQueue(path: cache.path)
        try await other.write { db in try db.execute(sql: sql) }
        try other.close()
        return cache
    }

    @Test(
        "a view in place of a table, which might never end, is read by no command and no start",
        arguments: ["setting", "outbox"])
    func view(name: String) async throws {
        let cache = try await changedByAnother(
            """
            PRAGMA legacy_alter_table = ON;
            ALTER TABLE sync_\(name) RENAME TO other;
            CREATE VIEW sync_\(name) AS SELECT * FROM other
            """)
        let said = failure { _ = try DatabaseSummary(ofDatabaseAt: cache.path) }
        #expect(said.contains("another program's view in place of a table"), "\(said)")
        #expect(throws: CacheError.self) { try DatabaseRestore.requireOwnSQL(in: cache.path, cache.store.schema) }
        #expect(throws: CacheError.self) { try TestCache(in: cache.folder) }
        if name == "outbox" {
            #expect(throws: CacheError.self) { try ExportedQueue(ofDatabaseAt: cache.path) }
        } else {
            #expect(CacheOrigin(ofDatabaseAt: cache.path) == nil)
        }
    }

    private static let searched = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          notes:
            fields: { id: { type: string }, text: { type: string, search: words } }
            pull: { path: /notes }
        """

    @Test("the text of records is indexed without the view that the file has for it")
    func searchedView() async throws {
        let cache = try TestCache(schema: Self.searched)
        cache.isDamaged = true
        try cache.store.close()
        let other = try DatabaseQueue(path: cache.path)
        try await other.write { db in
            try db.execute(
                sql: """
                    DROP VIEW sync_notes_searched;
                    CREATE VIEW sync_notes_searched AS SELECT _pk, 'planted' AS f_text FROM records_notes
                    """)
        }
        try other.close()
        let again = try TestCache(schema: Self.searched, in: cache.folder)
        again.isDamaged = true
        _ = try await again.pull("notes", #"[{"id":"a","text":"real"}]"#)
        try await again.store.catchUpSearch()
        let terms = try again.store.snapshot { db in
            try String.fetchSet(db, sql: "SELECT term FROM sync_notes_terms")
        }
        #expect(terms == ["real"])
    }

    private static let trigger = """
        INSERT OR REPLACE INTO sync_setting VALUES ('secrets_key', 'a');
        CREATE TRIGGER evil AFTER DELETE ON sync_setting BEGIN UPDATE sync_outbox SET body = '{}'; END
        """

    @Test("a trigger of another program does not run when the key is forgotten, and is refused by an import")
    func trigger() async throws {
        let cache = try await changedByAnother(Self.trigger)
        try ClosedDatabase(path: cache.path).forgetKey()
        let body = try await DatabaseFile.openReadOnly(cache.path).read { db in
            try String.fetchOne(db, sql: "SELECT body FROM sync_outbox")
        }
        #expect(body != "{}")
        let said = failure { try DatabaseRestore.requireOwnSQL(in: cache.path, cache.store.schema) }
        #expect(said.contains("the trigger evil"), "\(said)")
    }

    @Test("a trigger of another program does not run in a copy")
    func copiedTrigger() async throws {
        let cache = try await changedByAnother(Self.trigger)
        let copy = cache.folder.path("copy.db")
        try DatabaseCopy.make(of: cache.path, at: copy)
        let (body, epochs) = try await DatabaseFile.openReadOnly(copy).read { db in
            (
                try String.fetchOne(db, sql: "SELECT body FROM sync_outbox"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_setting WHERE name = 'epoch'")
            )
        }
        #expect(body != "{}")
        #expect(epochs == 0)
    }

    @Test("a database of the daemon's own, or none at all, passes the check before an import")
    func ownTriggers() async throws {
        let cache = try TestCache()
        try DatabaseRestore.requireOwnSQL(in: cache.path, cache.store.schema)
        try DatabaseRestore.requireOwnSQL(in: cache.folder.path("none.db"), cache.store.schema)
    }

    // MARK: Numbers

    private func change(_ cache: TestCache, _ sql: String) async throws {
        try await cache.store.writer.write { db in try db.execute(sql: sql) }
    }

    @Test("the greatest number of a record does not end a full pull")
    func record() async throws {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await change(cache, "UPDATE records_orders SET _pk = 9223372036854775807 WHERE _key = 'b'")
        var seen = try cache.store.startDeletionSweep(of: "orders")
        let page = PulledPage(entity: "orders", records: #"[{"id":"a"}]"#, knownUpTo: seen.knownUpTo)
        seen.insert(try await cache.store.apply(page, at: TestCache.now))
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 0)
    }

    @Test("the greatest number of a record before a creation does not end a pull")
    func knownRecord() async throws {
        let cache = try TestCache()
        _ = try await cache.store.create("orders", body: .object(["notes": "n"]), at: TestCache.now)
        try await change(cache, "UPDATE sync_outbox SET known_pk = 9223372036854775807")
        _ = try await cache.pull("orders", #"[{"id":"b"}]"#)
        #expect(try cache.record("orders", "b") != nil)
    }

    @Test("the greatest number of the change log is shown")
    func changeLog() async throws {
        let cache = try TestCache()
        for id in ["a", "b"] { _ = try await cache.pull("orders", "[{\"id\":\"\(id)\"}]") }
        try await change(
            cache,
            """
            UPDATE sync_change_log SET seq = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM sync_change_log)
            """)
        let page = try cache.store.changes(since: 0, limit: 10)
        #expect(page.events.last?.seq == .max)
    }

    @Test("the greatest number of the change log does not end the search for a hook's event")
    func hook() async throws {
        let cache = try TestCache()
        try await change(cache, "INSERT OR REPLACE INTO sync_setting VALUES ('log_floor', '\(Int64.max)')")
        let rule = HookRule(name: "link", events: [.offline])
        let missed = try cache.store.nextOccurrence(for: rule, after: 0, at: TestCache.now)
        #expect(missed.occurrence?.event == .missed && missed.position == .max)
        let next = try cache.store.nextOccurrence(for: rule, after: missed.position, at: TestCache.now)
        #expect(next.occurrence == nil && next.position == .max)
    }

    @Test("a pull that has seen more records than there can be starts over")
    func pull() async throws {
        let cache = try TestCache()
        let pull = #"{"kind":"everything","seen":9223372036854775807}"#
        try await change(
            cache,
            """
            INSERT INTO sync_cursor (entity, pull, held_deletions) VALUES ('orders', '\(pull)', 9223372036854775807)
            """)
        let cursor = try cache.store.cursor(of: "orders")
        #expect(cursor.pull == nil)
        #expect(cursor.heldDeletions < .max)
    }

    // MARK: Names

    @Test("names that differ in SQLite, but not for Swift, end no count of records and no measure")
    func equalNames() async throws {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await change(
            cache,
            """
            INSERT INTO sync_tally VALUES ('rows:' || char(233), 1), ('rows:e' || char(769), 1), ('ROWS:orders', 9);
            INSERT OR REPLACE INTO sync_cursor (entity) VALUES ('orders'), ('orders' || char(0))
            """)
        #expect(try cache.store.rowCount(of: "orders") == 1)
        let measures = try cache.store.measures()
        #expect(measures.rows["orders"] == 1)
        #expect(measures.heldLists == ["orders": false])
    }

    @Test(
        "a name that is read as another one, by which a row would not be found again, is refused in a backup",
        arguments: [
            ("INSERT INTO sync_content VALUES (printf('%064d', 1) || char(0), 1, 'a/b', 0, 0, 0)", "sync_content"),
            ("UPDATE sync_outbox SET content = printf('%064d', 1) || char(0)", "sync_outbox"),
            ("INSERT INTO sync_tally VALUES ('rows:orders' || char(0), 1)", "sync_tally"),
            ("INSERT INTO sync_cursor (entity) VALUES ('orders' || char(0))", "sync_cursor"),
            ("UPDATE records_orders SET _key = CAST(x'61FF' AS TEXT) WHERE _key = 'a'", "records_orders"),
        ])
    func namesInBackup(change: String, table: String) async throws {
        let fixture = try await RescueFixture()
        let schema = fixture.cache.store.schema
        let file = try DatabaseQueue(path: try fixture.backUp())
        try await file.write { db in
            let check = BackupCheck(db: db, schema: schema, path: "backup.db")
            try check.requireValues()
            try db.execute(sql: change)
            #expect(failure { try check.requireValues() }.contains("a value in the table \(table)"))
        }
        try file.close()
    }

    @Test("a record without anything that readers see is left out of the mirror")
    func emptyRecord() async throws {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await change(cache, "UPDATE records_orders SET _remote = NULL WHERE _key = 'a'")
        var found: [String] = []
        try cache.store.forEachStoredRecord(of: "orders") { found.append($0) }
        #expect(found == [#"{"id":"b"}"#])
    }
}
