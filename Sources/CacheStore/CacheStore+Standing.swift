internal import EntitySchema
internal import GRDB
internal import GRDBSQLite

/// How the cache stands at one moment: what the status tells. Costs the same however much is cached or queued.
package struct CacheStanding: Sendable {
    package var count: PendingCount
    package var openConflicts: Int
    package var drift: Int
    package var setAside: Int
    /// Entity → records, those whose deletion is queued included.
    package var rows: [String: Int]
    /// Entity → where its pulling stands; none of an entity that was never pulled.
    package var cursors: [String: PullCursor]
    /// See `QueueRescue.note`.
    package var rescue: QueueRescue.Report?
}

extension CacheStore {
    package func standing() throws -> CacheStanding {
        try readers.read { connection in
            var tallies: [String: Int] = [:]
            var cursors: [String: PullCursor] = [:]
            var note: String?
            try connection.snapshot {
                tallies = try Self.tallies(connection)
                try connection.query(
                    "SELECT entity, watermark, last_synced_at, held_deletions, error FROM sync_cursor", []
                ) { statement in
                    guard let entity = statement.text(0) else { return true }
                    cursors[entity] = PullCursor(
                        watermark: statement.text(1),
                        lastSyncedAt: statement.integer(2).map(Timestamp.init(milliseconds:)),
                        heldDeletions: Int(statement.integer(3) ?? 0), error: statement.text(4))
                    return true
                }
                try connection.query(
                    "SELECT value FROM sync_setting WHERE name = ?", [QueueRescue.noteSetting.databaseValue]
                ) { statement in
                    note = statement.text(0)
                    return false
                }
            }
            return CacheStanding(
                count: PendingCount(tallies), openConflicts: tallies["conflicts"] ?? 0, drift: tallies["drift"] ?? 0,
                setAside: tallies["set_aside"] ?? 0,
                rows: Dictionary(
                    uniqueKeysWithValues: schema.entities.map { ($0.name, tallies["rows:\($0.name)"] ?? 0) }),
                cursors: cursors, rescue: QueueRescue.note(note, at: pool.path))
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
