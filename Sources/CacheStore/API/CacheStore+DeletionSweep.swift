package import EntitySchema
internal import GRDB

/// Deletions that no tombstone tells of: what a full pull did not see.
extension CacheStore {
    private static let batch = 500

    /// Called before the first page of a full pull is asked for.
    package func nothingSeen(of entity: String) throws -> SeenRecords {
        let table = try table(entity)
        return try snapshot { db in
            SeenRecords(
                knownUpTo: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0,
                position: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT max(seq) FROM sync_change_log")) ?? 0)
        }
    }

    /// How many records would go that nobody has changed here.
    package func countUnseen(of entity: String, _ seen: SeenRecords) throws -> Int {
        let table = try table(entity)
        return try read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT count(*) FROM \(table.name)
                    WHERE _pk BETWEEN ?1 AND ?2 AND \(Self.isUnseen) AND _local IS NULL
                    """)
            var count = 0
            var start: Int64 = 1
            while let gap = seen.gap(from: start) {
                count += try Int.fetchOne(statement, arguments: [gap.lowerBound, gap.upperBound, seen.position]) ?? 0
                start = gap.upperBound + 1
            }
            return count
        }
    }

    /// Deletes what was not seen, as tombstones would, at most 500 records a transaction. Returns how many went.
    package func deleteUnseen(of entity: String, _ seen: SeenRecords, at now: Timestamp) async throws -> Int {
        let table = try table(entity)
        var deleted = 0
        var start: Int64? = 1
        while let from = start {
            let (count, next) = try await change(at: now) { db in
                let (keys, next) = try Self.unseenKeys(table, seen, from: from, db)
                let applier = PageApplier(table: table, context: context(db, at: now))
                return (try applier.delete(keys: keys), next)
            }
            deleted += count
            start = next
        }
        return deleted
    }

    /// What the server was last known to have, and no change of which was acknowledged since the pull began (?3). A
    /// deletion that is queued here settles that by itself.
    private static let isUnseen = "_remote IS NOT NULL AND _deleted = 0 AND coalesce(_acknowledged, 0) <= ?3"

    private static func unseenKeys(
        _ table: EntityTable, _ seen: SeenRecords, from start: Int64, _ db: Database
    ) throws -> (keys: [String], next: Int64?) {
        let statement = try db.cachedStatement(
            sql: """
                SELECT _pk, _key FROM \(table.name)
                WHERE _pk BETWEEN ?1 AND ?2 AND \(isUnseen) ORDER BY _pk LIMIT ?4
                """)
        var keys: [String] = []
        var start = start
        while let gap = seen.gap(from: start) {
            let rows = try Row.fetchAll(
                statement, arguments: [gap.lowerBound, gap.upperBound, seen.position, batch - keys.count])
            keys += rows.map { $0["_key"] }
            if keys.count == batch, let last = rows.last { return (keys, (last["_pk"] as Int64) + 1) }
            start = gap.upperBound + 1
        }
        return (keys, nil)
    }
}
