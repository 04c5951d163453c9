package import EntitySchema
internal import Foundation
internal import GRDB
internal import Glibc
internal import JSONText
internal import SQLiteStore
package import Secrets

/// Replaces a damaged database with a new one that has every queued change that can still be read.
///
/// The damaged file is kept under a dated name with its log. Changes are read from it record by record, then from the
/// file without its log, then from the newest backup. A change that only an older source has, and that the newer ones
/// do not report as ended, may have been sent meanwhile: it is retried as an attempt with unknown outcome.
package struct QueueRescue: Sendable {
    /// The outcome of a rescue. Stored in the new database, for `status` and `doctor`.
    package struct Report: Codable, Sendable, Equatable {
        package var at: String
        package var reason: String
        /// The damaged file's new name, in the same folder.
        package var setAside: String
        /// The number of changes in the queue again, and how many of them may have been sent before.
        package var rescued: Int
        package var uncertain: Int
        /// The ids of changes that could not be read.
        package var lost: [Int64]
        /// Whether more changes may be missing.
        package var mayMissMore: Bool

        enum CodingKeys: String, CodingKey {
            case at, reason, rescued, uncertain, lost
            case setAside = "set_aside"
            case mayMissMore = "may_miss_more"
        }
    }

    let path: String
    let schema: EntitySchema
    let sealer: SecretSealer
    /// Newest first.
    let backups: [String]
    let makeID: @Sendable () -> String

    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, backups: [String],
        makeID: @escaping @Sendable () -> String
    ) {
        self.path = path
        self.schema = schema
        self.sealer = sealer
        self.backups = backups
        self.makeID = makeID
    }

    /// `reason` is how the damage was noticed. Nothing else may have the file open. When this throws, nothing has
    /// changed.
    package func run(reason: String, at now: Timestamp) async throws -> Report {
        let sources = DamagedFile(path: path, backups: backups).readings()
        let (queue, uncertain) = QueueSnapshot.merged(sources)
        let isWhole = sources.first?.isComplete ?? false
        let report = Report(
            at: now.description, reason: reason,
            setAside: URL(fileURLWithPath: "\(path).damaged-\(DatabaseFile.stamp(now))").lastPathComponent,
            rescued: queue.changes.count, uncertain: uncertain, lost: isWhole ? [] : queue.lost,
            mayMissMore: !isWhole && sources.first?.logBegins == nil)
        try await replace(with: queue, report, at: now)
        return report
    }

    private func replace(with queue: QueueSnapshot, _ report: Report, at now: Timestamp) async throws {
        let fresh = path + ".rescue"
        for suffix in ["", "-wal", "-shm"] { unlink(fresh + suffix) }
        let store = try CacheStore(path: fresh, schema: schema, sealer: sealer, makeID: makeID)
        do {
            try await store.replaceQueue(with: queue, at: now)
            for (entity, records) in queue.local.records where schema[entity]?.isLocal == true {
                _ = try await store.importRecords(records, of: entity, at: now)
            }
            for name in ["account", "schema", "upstream"] {
                if let value = queue.settings[name] { try await store.setSetting(name, to: value) }
            }
            let note = try JSONEncoder().encode(report)
            try await store.setSetting(Self.noteSetting, to: String(decoding: note, as: UTF8.self))
            try store.close()
        } catch {
            try? store.close()
            throw error
        }
        try DatabaseFile(path).replace(with: fresh, .damaged, at: now)
    }

    // MARK: The note

    static let noteSetting = "rescue"

    /// The report of the last rescue of the database at `path`, for as long as the damaged file is kept.
    package static func note(_ text: String?, at path: String) -> Report? {
        guard let text, let report = try? JSONDecoder().decode(Report.self, from: Data(text.utf8)) else { return nil }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.fileExists(atPath: "\(folder)/\(report.setAside)") ? report : nil
    }
}

extension QueueRescue.Report {
    /// The report as text, for the log and for users.
    package var summary: String {
        var parts = ["\(rescued) queued changes were rescued"]
        if uncertain > 0 { parts.append("\(uncertain) of them from an older copy, which may have been sent before") }
        if !lost.isEmpty { parts.append("lost: changes \(lost.map(String.init).joined(separator: ", "))") }
        if mayMissMore { parts.append("more changes may be missing that cannot be identified") }
        return parts.joined(separator: "; ")
    }
}

extension CacheStore {
    /// See `QueueRescue.note`.
    package func rescueNote() throws -> QueueRescue.Report? {
        QueueRescue.note(try setting(QueueRescue.noteSetting), at: pool.path)
    }

    /// Replaces the queue with that of `reading`.
    func replaceQueue(with reading: QueueSnapshot, isSameCache: Bool = false, at now: Timestamp) async throws {
        // GRDB rows belong to the thread that read them; their values do not.
        let rows = reading.rows.mapValues { $0.map { row in row.map { (column: $0.0, value: $0.1) } } }
        let (changes, settings, lastID) = (reading.changes, reading.settings, reading.lastID)
        try await writer.write { db in
            try clearQueue(db)
            // Known imports are added after the changes themselves.
            for table in QueueSnapshot.kept where table != "sync_carried" {
                try Self.insert(rows[table] ?? [], into: table, db)
            }
            try QueueImport(context: context(db, at: now), settings: settings, isSameCache: isSameCache).add(changes)
            try Self.insert(rows["sync_carried"] ?? [], into: "sync_carried", db)
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'sync_outbox'") ?? 0
            try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'sync_outbox'")
            // No number is used twice.
            try db.execute(sql: "INSERT INTO sqlite_sequence VALUES ('sync_outbox', ?)", arguments: [max(last, lastID)])
        }
    }

    private func clearQueue(_ db: Database) throws {
        let records = try Row.fetchAll(db, sql: "SELECT DISTINCT entity, record_key FROM sync_outbox")
        try db.execute(sql: "DELETE FROM sync_outbox")
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'sync_outbox'")
        try db.execute(sql: "DELETE FROM sync_conflict WHERE winner IS NULL")
        try db.execute(sql: "UPDATE sync_tally SET count = 0 WHERE name = 'conflicts'")
        for record in records {
            guard let entity = schema[record[0]] else { continue }
            try RecordRow(table: EntityTable(entity: entity), db: db).rebuildDocument(over: record[1])
        }
    }

    /// A row with columns that this table does not have is of another version, and is skipped.
    private static func insert(_ rows: [[(column: String, value: DatabaseValue)]], into table: String, _ db: Database)
        throws
    {
        let known = Set(try db.columns(in: table).map(\.name))
        for row in rows where known.isSuperset(of: row.map(\.column)) {
            let columns = row.map { "\"\($0.column)\"" }.joined(separator: ", ")
            let marks = row.map { _ in "?" }.joined(separator: ", ")
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(marks))",
                arguments: StatementArguments(row.map(\.value)))
        }
    }
}
