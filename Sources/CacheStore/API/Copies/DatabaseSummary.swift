package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// A summary of a database, read while another process may use it.
package struct DatabaseSummary: Sendable {
    package var account: String?
    /// State → changes.
    package var queue: [String: Int]
    /// The entities of queued changes, the first 100 by name.
    package var queuedEntities: [String]
    /// When the oldest queued change was made.
    package var oldestChange: Timestamp?
    package var openConflicts: Int
    /// The report of the last rescue, for as long as the damaged file is kept.
    package var rescue: QueueRescue.Report?

    /// Throws `.damaged` for a damaged file, `.incompatible` for a file of a newer version.
    package init(ofDatabaseAt path: String) throws {
        do {
            self = try DatabaseFile.openReadOnly(path).read { db in
                try Migrations.requireKnown(Migrations.applied(db), path: path)
                return try DatabaseSummary(db, path)
            }
        } catch {
            throw CacheError.classified(error)
        }
    }

    private init(_ db: Database, _ path: String) throws {
        // Only these: a changed file can have any number.
        let settings = try Row.fetchAll(
            db, sql: "SELECT name, value FROM sync_setting WHERE name IN ('account', ?)",
            arguments: [QueueRescue.noteSetting]
        ).reduce(into: [String: String]()) { settings, row in
            if let name: String = row.readable("name") { settings[name] = row.readable("value") }
        }
        account = settings["account"]
        rescue = QueueRescue.note(settings[QueueRescue.noteSetting], at: path)
        queue = try Row.fetchAll(db, sql: "SELECT state, count(*) AS count FROM sync_outbox GROUP BY state")
            .reduce(into: [:]) { queue, row in
                if let state: String = row.readable("state") { queue[state] = row.readable("count") }
            }
        queuedEntities = try Row.fetchAll(
            db, sql: "SELECT DISTINCT entity FROM sync_outbox ORDER BY entity LIMIT 100"
        ).compactMap { $0.readable("entity") }
        oldestChange = try Int64.fetchOne(db, sql: "SELECT created_at FROM sync_outbox ORDER BY id LIMIT 1")
            .map(Timestamp.init(milliseconds:))
        openConflicts =
            try Int.fetchOne(db, sql: "SELECT count FROM sync_tally WHERE name = 'conflicts'") ?? 0
    }

    /// The version of the SQLite library in use: `3.40.1`.
    package static func libraryVersion() throws -> String {
        try DatabaseQueue().read { db in try String.fetchOne(db, sql: "SELECT sqlite_version()") } ?? ""
    }
}
