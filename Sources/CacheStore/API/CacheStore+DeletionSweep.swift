package import EntitySchema
internal import GRDB

/// Finds deletions that no tombstone reports: the records that a full pull did not see.
extension CacheStore {
    private static let batch = 500

    /// Starts a sweep: call it before the first page of a full pull is requested.
    package func startDeletionSweep(of entity: String) throws -> SeenRecords {
        let table = try table(entity)
        return try snapshot { db in
            SeenRecords(
                knownUpTo: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0,
                position: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT max(seq) FROM sync_change_log")) ?? 0)
        }
    }

    /// How many records without local changes the sweep would delete.
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

    /// Deletes the records that were not seen, as tombstones would, at most 500 per transaction. Returns how many.
    package func deleteUnseen(of entity: String, _ seen: SeenRecords, at now: Timestamp) async throws -> Int {
        let table = try table(entity)
        var deleted = 0
        var start: Int64? = 1
        while let from = start {
            let (count, next) = try await change(at: now) { context in
                let (keys, next) = try Self.unseenKeys(table, seen, from: from, context.db)
                let applier = PageApplier(table: table, context: context)
                let new = try context.newKeys(of: entity)
                return (try applier.delete(keys: keys.filter { !new.contains($0) }), next)
            }
            deleted += count
            start = next
        }
        return deleted
    }

    /// Records that the server last had, with no change acknowledged since the pull began (?3). Leaves out a record
    /// whose deletion is queued.
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
