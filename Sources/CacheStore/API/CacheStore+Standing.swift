internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// How the cache stands at one moment: what the status tells. Costs the same however much is cached or queued.
package struct CacheStanding: Sendable {
    package var count: PendingCount
    package var openConflicts: Int
    package var drift: Int
    package var setAside: Int
    /// Entity → records, those whose deletion is queued included; none of an entity that never had one.
    package var rows: [String: Int]
    /// Entity → where its pulling stands; none of an entity that was never pulled.
    package var cursors: [String: PullCursor]
    /// See `QueueRescue.note`.
    package var rescue: QueueRescue.Report?
}

extension CacheStore {
    /// One statement, so that all of it is of one moment.
    private static let standingSQL = """
        SELECT 0, name, count, NULL, NULL, NULL FROM sync_tally
        UNION ALL
        SELECT 1, entity, last_synced_at, watermark, held_deletions, error FROM sync_cursor
        UNION ALL
        SELECT 2, name, NULL, value, NULL, NULL FROM sync_setting WHERE name = ?
        """

    package func standing() throws -> CacheStanding {
        try readers.read { connection in
            var tallies: [String: Int] = [:]
            var rows: [String: Int] = [:]
            var cursors: [String: PullCursor] = [:]
            var note: String?
            try connection.query(Self.standingSQL, [QueueRescue.noteSetting.databaseValue]) { row in
                guard let name = row.text(1) else { return true }
                switch row.integer(0) {
                case 0:
                    let count = Int(row.integer(2) ?? 0)
                    if name.hasPrefix("rows:") {
                        rows[String(name.dropFirst(5))] = count
                    } else {
                        tallies[name] = count
                    }
                case 1:
                    cursors[name] = PullCursor(
                        watermark: row.text(3), lastSyncedAt: row.integer(2).map(Timestamp.init(milliseconds:)),
                        heldDeletions: Int(row.integer(4) ?? 0), error: row.text(5))
                default: note = row.text(3)
                }
                return true
            }
            return CacheStanding(
                count: PendingCount(tallies), openConflicts: tallies["conflicts"] ?? 0, drift: tallies["drift"] ?? 0,
                setAside: tallies["set_aside"] ?? 0,
                rows: rows, cursors: cursors, rescue: QueueRescue.note(note, at: pool.path))
        }
    }

    package func pendingCount() throws -> PendingCount {
        try readers.read { connection in PendingCount(try Self.tallies(connection)) }
    }

    private static func tallies(_ connection: ReadConnection) throws -> [String: Int] {
        var tallies: [String: Int] = [:]
        try connection.query("SELECT name, count FROM sync_tally", []) { statement in
            if let name = statement.text(0) { tallies[name] = Int(statement.integer(1) ?? 0) }
            return true
        }
        return tallies
    }
}

extension PendingCount {
    fileprivate init(_ tallies: [String: Int]) {
        let failed = tallies["failed"] ?? 0
        self.init(pending: (tallies["queue"] ?? 0) - failed, failed: failed)
    }
}

extension OpaquePointer {
    /// A column of the row that a statement stands on; nil for NULL.
    fileprivate func text(_ column: Int32) -> String? {
        sqlite3_column_text(self, column).map { String(cString: $0) }
    }

    fileprivate func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(self, column) == SQLITE_NULL ? nil : sqlite3_column_int64(self, column)
    }
}
