import EntitySchema
import Foundation
import GRDB
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Opening it takes a second, so each test looks at all tables.
@Suite("Opening the database of an older version")
struct OldDatabaseTests {
    private let old: OldDatabase
    private let expected: OldDatabase.Expectations
    private let store: CacheStore
    private let clock: Timestamp

    init() throws {
        old = try OldDatabase()
        expected = try old.expectations()
        clock = try #require(Timestamp(iso8601: expected.clock))
        store = try old.open()
    }

    /// The file as another program reads it.
    private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: old.path, configuration: configuration).read(body)
    }

    @Test("the tables of the queue keep every column, so that the older version finds it after a downgrade")
    func keptColumns() throws {
        let sql = "SELECT name FROM pragma_table_info(?)"
        let unopened = try OldDatabase()
        let file = try DatabaseQueue(path: unopened.path)
        for table in ["sync_outbox", "sync_change_log", "sync_conflict", "sync_setting", "sync_alias", "sync_answer"] {
            let before = try file.read { db in try Set(String.fetchAll(db, sql: sql, arguments: [table])) }
            let after = try read { db in try Set(String.fetchAll(db, sql: sql, arguments: [table])) }
            #expect(!before.isEmpty && after.isSuperset(of: before), "\(table)")
        }
    }

    // MARK: Records

    @Test("each view has the same columns and rows")
    func sameViews() throws {
        for entity in old.schema.entities { try requireSameView(entity.name) }
    }

    private func requireSameView(_ entity: String) throws {
        let view = try #require(expected.views[entity])
        let (columns, rows) = try read { db in
            let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [entity])
            let quoted = columns.map { "quote(\"\($0)\")" }.joined(separator: ", ")
            let rows = try Row.fetchAll(db, sql: "SELECT \(quoted) FROM \"\(entity)\" ORDER BY \"\(view.key)\"")
            return (
                columns, rows.map { row in row.databaseValues.map { String.fromDatabaseValue($0) ?? "" } } as [[String]]
            )
        }
        #expect(columns == view.columns, "\(entity)")
        #expect(rows.count == view.rows.count, "\(entity)")
        for (row, wanted) in zip(rows, view.rows) {
            let isSame = zip(row, wanted).allSatisfy { now, old in
                // A text made of others has no NUL, at which SQL once ended it.
                now == old || Self.respelled[now] == old || now == old.replacing("nul'", with: "nulcut'")
            }
            #expect(isSame && row.count == wanted.count, "\(entity): \(row), not \(wanted)")
        }
    }

    /// Times of indexed fields that are read as elsewhere in the daemon now, no longer as SQLite reads them: new → old.
    private static let respelled = [
        "'2026-12-01T10:00:00.999Z'": "'2026-12-01T10:00:01.000Z'",
        "'2026-12-02T09:59:00.500Z'": "'2026-12-01T10:00:00.5-23:59'",
        "'2026-03-02T00:00:00.000Z'": "'2026-02-30T00:00:00.000Z'",
        "'2026-12-01T24:00:00Z'": "'2026-12-01T24:00:00.000Z'",
    ]

    @Test("each photo has the same content")
    func sameContents() throws {
        for (key, hash) in expected.contents {
            #expect(try store.contentStatus(of: key, "photos")?.here?.sha256 == hash, "\(key)")
        }
    }

    @Test("each pull continues where it was")
    func sameCursors() throws {
        for row in expected.cursors {
            let cursor = try store.cursor(of: row.entity)
            #expect(cursor.watermark == row.watermark)
            #expect(cursor.lastSyncedAt?.milliseconds == row.last_synced_at)
            #expect(cursor.lastFullAt?.milliseconds == row.last_full_at)
            #expect(cursor.lateness == row.lateness)
            #expect(cursor.heldDeletions == row.held_deletions)
            #expect(cursor.error == row.error)
            let pull = try row.pull.map { try JSONText(parsing: $0) }
            #expect(cursor.pull?.kind.rawValue == pull?["kind"]?.string)
            #expect(cursor.pull?.position == pull?["position"]?.string)
            #expect(cursor.pull?.seen == pull?["seen"]?.integer)
            #expect(cursor.pull?.started?.milliseconds == pull?["started"]?.integer.map(Int64.init))
        }
        #expect(expected.cursors.contains { $0.pull != nil })
    }

    @Test("no secret is in the file")
    func noSecrets() throws {
        try store.close()
        let bytes = try Data(contentsOf: URL(filePath: old.path))
        for secret in ["open sesame", "s3cret", #""door_code":"4"#] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
    }

    @Test("the file is sound")
    func sound() throws {
        let (whole, references) = try read { db in
            (
                try String.fetchAll(db, sql: "PRAGMA integrity_check"),
                try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
            )
        }
        #expect(whole == ["ok"])
        #expect(references == 0)
    }

    // MARK: Tables

    /// A table in the kept file and in the opened one, in the columns that both have.
    private func rows(of table: String, without left: Set<String> = []) throws -> (old: [Row], new: [Row]) {
        let kept = try OldDatabase()
        let before = try DatabaseQueue(path: kept.path)
        defer { withExtendedLifetime(kept) {} }
        func columns(_ db: Database) throws -> Set<String> {
            Set(try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table]))
        }
        let shared = try before.read(columns).intersection(read(columns)).subtracting(left).sorted()
        try #require(!shared.isEmpty, "\(table)")
        let sql = "SELECT \(shared.joined(separator: ", ")) FROM \(table) ORDER BY \(shared.joined(separator: ", "))"
        return try (before.read { try Row.fetchAll($0, sql: sql) }, read { try Row.fetchAll($0, sql: sql) })
    }

    @Test("what is known besides the records is the same")
    func sameTables() throws {
        let tables = [
            "sync_alias", "sync_answer", "sync_carried", "sync_conflict", "sync_content", "sync_cursor", "sync_drift",
            "sync_field", "sync_reminder", "sync_set_aside", "sync_tally",
        ]
        for table in tables {
            // A stale reminder is looked at once more, which changes nothing.
            let (old, new) = try rows(of: table, without: ["stale"])
            // The queue is counted when asked.
            let counted = old.filter { table != "sync_tally" || !["queue", "failed"].contains($0["name"] as String) }
            #expect(counted == new, "\(table)")
        }
    }

    @Test("each record has the same bytes from the server, version, owner's state and row number")
    func sameRecords() throws {
        let overlays = ["_local", "_document", "_derived"]
        for entity in self.old.schema.entities.map(\.name) {
            let fields = try #require(expected.views[entity]).columns
            let (old, new) = try rows(of: "records_\(entity)", without: Set(fields + overlays))
            #expect(old.first?.hasColumn("_remote") == true, "\(entity)")
            #expect(old == new, "\(entity)")
        }
    }

    @Test("the settings are the same, but for what follows the layout and the file")
    func sameSettings() throws {
        let own = [
            "added_members", "columns:", "derived", "drift:", "epoch", "given:", "large:", "reminders", "search_merge:",
            "secrets_proof:", "tables", "unsaid:",
        ]
        let (old, new) = try rows(of: "sync_setting")
        func kept(_ rows: [Row]) -> [Row] {
            rows.filter { row in !own.contains { (row["name"] as String).hasPrefix($0) } }
        }
        #expect(kept(old) == kept(new))
        #expect(kept(old).count > 10)
    }

    @Test("a backup of it can be restored, though its triggers and views are not those of now")
    func restored() async throws {
        let backup = try OldDatabase()
        let target = backup.folder.path("restored.db")
        let report = try await DatabaseRestore(
            path: target, schema: backup.schema, sealer: RescueFixture.sealer(), makeID: { UUID().uuidString }
        ).run(from: backup.path, at: clock)
        #expect(try report.queued == ExportedQueue(text: expected.queue).changes.count)
        let triggers = try await DatabaseQueue(path: target).read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name GLOB 'records_*'")
        }
        #expect(triggers == 0)
    }

    // MARK: Queue and log

    @Test("the queue is the same: order, ids, idempotency keys, bases, times, errors and conflicts")
    func sameQueue() throws {
        let queue = try ExportedQueue(ofDatabaseAt: old.path)
        #expect(try queue.changes == ExportedQueue(text: expected.queue).changes)
        var origin = queue.origin
        origin.settings = origin.settings.filter { !$0.key.hasPrefix("secrets_proof:") }
        #expect(try origin == ExportedQueue(text: expected.queue).origin)
    }

    @Test("the change log is the same")
    func sameChanges() throws {
        let events = try store.changes(since: 0, limit: 10_000).events
        #expect(try events.map(\.document.text) == JSONText(parsing: expected.changes)["data"]?.elements.map(\.text))
    }

    @Test("no id is used twice")
    func newIDs() async throws {
        let last = try #require(expected.last_ids["sync_outbox"])
        try await store.update("orders", key: "ord_045", body: .object(["notes": "new"]), at: clock)
        #expect(try store.newestChange() == last + 1)
    }

    @Test("each change is sent once, with its old body, and with its old idempotency key unless it was refused")
    func sentOnce() async throws {
        let queue = try ExportedQueue(text: expected.queue).changes
        let later = clock + .seconds(90 * 86_400)
        let stuck = queue.filter { $0.conflicts?.isEmpty == false }.map(\.id)
        let failed = queue.filter { $0.state == "failed" }.map(\.idempotencyKey)
        #expect(!stuck.isEmpty && !failed.isEmpty)
        #expect(try await store.recoverInterrupted(at: later, longest: { _ in .zero }) == 2)
        var sent = try await sendAll(at: later)
        #expect(Set(sent.map(\.idempotencyKey)).isDisjoint(with: failed))
        #expect(try await store.retry(nil, at: later) == failed.count)
        sent += try await sendAll(at: later)
        #expect(Set(sent.map(\.id)).count == sent.count)
        #expect(Set(sent.map(\.id)) == Set(queue.map(\.id)).subtracting(stuck))
        for change in sent {
            let known = try #require(queue.first { $0.id == change.id })
            #expect(change.idempotencyKey == known.idempotencyKey || known.state == "failed")
            #expect(change.operation.rawValue == known.operation)
            #expect(change.storedBody.text == known.body)
            #expect(change.unreadable == [])
        }
    }

    /// Sends whatever is ready, and acknowledges it, until nothing is.
    private func sendAll(at time: Timestamp) async throws -> [OutboxChange] {
        var sent: [OutboxChange] = []
        for lane in [PushLane.fields, .content] {
            while let change = try store.readyChanges(limit: 1, at: time, in: lane).first {
                try #require(await store.begin(change, at: time))
                try await store.finish(change.id, .acknowledged(record: nil), at: time)
                sent.append(change)
            }
        }
        return sent
    }
}
