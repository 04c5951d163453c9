package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// How much of the change log is kept.
package struct LogLimits: Sendable, Equatable {
    /// Older entries go.
    package var age: Duration
    /// Of the sequence as much is kept, and of what became of changes made here as many entries besides: else one large
    /// pull would take the history of every edit with it.
    package var count: Int

    package init(age: Duration, count: Int) {
        self.age = age
        self.count = count
    }
}

/// Forgetting old entries of the change log.
extension CacheStore {
    /// Deletes one batch of rows beyond the limits, the oldest first, and returns how many; 0 when there are none.
    ///
    /// One short transaction; what is to go is looked for beside the writer. The last row always stays, since the next
    /// number follows from it.
    package func pruneLog(to limits: LogLimits, at now: Timestamp, batch: Int = 200) async throws -> Int {
        let doomed = try snapshot { db in try Self.doomed(limits, now, batch, db) }
        guard let last = doomed.last else { return 0 }
        let list = JSONText.array(doomed.map { JSONText.integer(Int($0)) }).text
        return try await writer.write { db in
            try db.cachedStatement(sql: "DELETE FROM sync_change_log WHERE seq IN (SELECT value FROM json_each(?))")
                .execute(arguments: [list])
            let count = db.changesCount
            let floor = max(last, try Self.logFloor(db))
            try db.execute(
                sql: """
                    INSERT INTO sync_setting VALUES ('log_floor', ?)
                    ON CONFLICT DO UPDATE SET value = excluded.value
                    """,
                arguments: ["\(floor)"])
            return count
        }
    }

    private static func doomed(_ limits: LogLimits, _ now: Timestamp, _ batch: Int, _ db: Database) throws -> [Int64] {
        let end = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM sync_change_log")) ?? 0
        let young = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT seq FROM sync_change_log WHERE at >= ? ORDER BY seq LIMIT 1"),
            arguments: [(now - limits.age).milliseconds])
        let ownCount =
            try Int.fetchOne(
                db.cachedStatement(sql: "SELECT count(*) FROM sync_change_log WHERE change_id IS NOT NULL")) ?? 0
        let ownExcess = max(ownCount - limits.count, 0)
        let lastOwn =
            ownExcess == 0
            ? 0
            : try Int64.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT seq FROM sync_change_log WHERE change_id IS NOT NULL ORDER BY seq LIMIT 1 OFFSET ?
                        """),
                arguments: [ownExcess - 1]) ?? 0
        return try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT seq FROM sync_change_log
                    WHERE seq < ?1 AND (seq < ?2 OR seq <= iif(change_id IS NULL, ?3, ?4)) ORDER BY seq LIMIT ?5
                    """),
            arguments: [end, young ?? end, end - Int64(limits.count), lastOwn, batch])
    }
}
