package import EntitySchema
internal import GRDB
internal import GRDBSQLite
package import SQLiteStore

/// The state of the cache at one moment, for the status. Costs the same however much is cached; queued changes are counted once
/// for each commit.
package struct CacheSummary: Sendable {
    package var count: PendingCount
    package var openConflicts: Int
    /// Deliveries of hooks that wait for a person.
    package var parkedDeliveries: Int
    package var drift: Int
    package var setAside: Int
    /// Entity → records, including those whose deletion is queued; no entry for an entity that never had one.
    package var rows: [String: Int]
    /// Entity → its cursor; no entry for an entity that was never pulled.
    package var cursors: [String: PullCursor]
    /// Who is signed in to the upstream, by name or else by the account's id; nil if the upstream did not say.
    package var account: String?
    /// See `QueueRescue.note`.
    package var rescue: QueueRescue.Report?
}

extension CacheStore {
    /// Of the disk with the database; nil if it is unknown.
    package var space: DiskSpace? { DiskSpace(beside: pool.path) }

    /// Why the log of the database grows and what to do; nil unless it has become too long.
    package var logWarning: String? {
        guard writer.isLogHeld else { return nil }
        return "a program keeps a read of \(pool.path) open, so its -wal file only grows; end that program"
    }

    package func summary() throws -> CacheSummary {
        try readers.read { connection in
            let stored = try connection.kept(queries.summary) { try StoredSummary(queries.summary, connection) }
            let (tallies, settings) = (stored.tallies, stored.settings)
            return CacheSummary(
                count: PendingCount(tallies), openConflicts: tallies["conflicts"] ?? 0,
                parkedDeliveries: tallies["parked"] ?? 0, drift: tallies["drift"] ?? 0,
                setAside: tallies["set_aside"] ?? 0,
                rows: stored.rows, cursors: stored.cursors,
                account: settings[SettingTable.accountName] ?? settings["account"],
                rescue: QueueRescue.note(settings[QueueRescue.noteSetting], at: pool.path))
        }
    }

    package func pendingCount() throws -> PendingCount {
        try readers.read { connection in
            try connection.kept(queries.pending) {
                var tallies: [String: Int] = [:]
                try connection.query(queries.pending) { row in
                    if let name = row.text(1) { tallies[name] = Int(row.integer(2) ?? 0) }
                    return true
                }
                return PendingCount(tallies)
            }
        }
    }
}

extension PendingCount {
    fileprivate init(_ tallies: [String: Int]) {
        let failed = tallies["failed"] ?? 0
        self.init(pending: (tallies["queue"] ?? 0) - failed, failed: failed)
    }
}

/// The rows of `FixedQueries.summary`.
private struct StoredSummary {
    var tallies: [String: Int] = [:]
    /// By entity, as are the cursors.
    var rows: [String: Int] = [:]
    var cursors: [String: PullCursor] = [:]
    var settings: [String: String] = [:]

    init(_ query: NumberedSQL, _ connection: ReadConnection) throws {
        try connection.query(query, [QueueRescue.noteSetting.databaseValue]) { row in
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
                    heldDeletions: Int(row.integer(4) ?? 0), held: row.text(6), error: row.text(5),
                    total: row.integer(7).map { Int($0) })
            default: settings[name] = row.text(3)
            }
            return true
        }
    }
}

extension OpaquePointer {
    /// A column of the statement's current row; nil for NULL.
    fileprivate func text(_ column: Int32) -> String? {
        sqlite3_column_text(self, column).map { String(cString: $0) }
    }

    fileprivate func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(self, column) == SQLITE_NULL ? nil : sqlite3_column_int64(self, column)
    }
}

/// What the cache holds at one moment, as numbers for monitoring.
package struct CacheMeasures: Sendable {
    /// State → changes, for every state that the queue shows, `blocked` included.
    package var queue: [String: Int]
    /// When the oldest queued change was made, failed ones included; nil when there is none.
    package var oldestChange: Timestamp?
    /// Entity → records.
    package var rows: [String: Int]
    package var openConflicts: Int
    /// Conflicts since the beginning.
    package var conflicts: Int
    package var drift: Int
    package var setAside: Int
    /// Entity → when its last pull succeeded.
    package var lastSyncedAt: [String: Timestamp]
    /// Entity with a window → records that its list showed when it was last read whole.
    package var totals: [String: Int]
    /// Entity → records whose deletion waits for confirmation.
    package var heldDeletions: [String: Int]
    /// Entity → whether its last full pull was not believed.
    package var heldLists: [String: Bool]
    package var databaseBytes: Int
    package var logBytes: Int
}

extension CacheStore {
    package func measures() throws -> CacheMeasures {
        let databaseBytes = DatabaseFile.size(of: [pool.path])
        let logBytes = DatabaseFile.size(of: [pool.path + "-wal"])
        return try snapshot { db in
            let tallies = try Self.numbers("SELECT name, count FROM sync_tally", db)
            let cursors = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT entity, last_synced_at, held_deletions, held, total FROM sync_cursor"))
            let known = cursors.filter { schema[$0["entity"]] != nil }
            return CacheMeasures(
                queue: try queueStates(db),
                oldestChange: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT created_at FROM sync_outbox ORDER BY id LIMIT 1")
                ).map(Timestamp.init(milliseconds:)),
                rows: Dictionary(
                    uniqueKeysWithValues: schema.entities.map { ($0.name, tallies["rows:\($0.name)"] ?? 0) }),
                openConflicts: tallies["conflicts"] ?? 0,
                conflicts: try Int.fetchOne(
                    db.cachedStatement(sql: "SELECT coalesce(max(id), 0) FROM sync_conflict")) ?? 0,
                drift: tallies["drift"] ?? 0, setAside: tallies["set_aside"] ?? 0,
                lastSyncedAt: known.reduce(into: [:]) { times, row in
                    times[row["entity"]] = row.time("last_synced_at")
                },
                totals: known.reduce(into: [:]) { totals, row in totals[row["entity"]] = row["total"] as Int? },
                heldDeletions: known.reduce(into: [:]) { $0[$1["entity"]] = $1["held_deletions"] as Int },
                heldLists: known.reduce(into: [:]) { $0[$1["entity"]] = ($1["held"] as String?) != nil },
                databaseBytes: databaseBytes, logBytes: logBytes)
        }
    }

    private func queueStates(_ db: Database) throws -> [String: Int] {
        var states = Dictionary(uniqueKeysWithValues: OutboxState.allCases.map { ($0.rawValue, 0) })
        states["blocked"] = 0
        let counts = try Self.numbers(
            """
            WITH RECURSIVE waiting (id) AS (
              SELECT change_id FROM sync_conflict WHERE winner IS NULL
              UNION SELECT id FROM sync_outbox
              WHERE \(schema.waitsForContentSQL()) OR entity NOT IN (\(schema.namesSQL))),
            stuck (id) AS (
              SELECT id FROM sync_outbox WHERE state = \(OutboxState.failed.sql) UNION SELECT id FROM waiting),
            blocked (id) AS (
              SELECT change_id FROM sync_dependency WHERE needs_id IN stuck
              UNION SELECT id FROM waiting
              UNION SELECT change_id FROM blocked JOIN sync_dependency ON needs_id = blocked.id)
            SELECT iif(id IN blocked, 'blocked', state), count(*) FROM sync_outbox GROUP BY 1
            """, db)
        states.merge(counts) { $1 }
        return states
    }

    private static func numbers(_ sql: String, _ db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(db.cachedStatement(sql: sql))
        // SQLite compares names by bytes, and Swift takes some that differ for equal.
        return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    }
}
