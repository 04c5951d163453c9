package import EntitySchema
internal import GRDB
package import JSONText

/// Finds deletions that no tombstone reports: the records that a full pull did not see.
extension CacheStore {
    private static let batch = 500

    /// Starts a sweep: call it before the first page of a full pull is requested.
    ///
    /// `window`: what the list shows at least.
    package func startDeletionSweep(of entity: String, window: RecordTest? = nil) throws -> SeenRecords {
        let table = try table(entity)
        var seen = try snapshot { db in
            SeenRecords(
                knownUpTo: try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0,
                position: try Self.logEnd(db))
        }
        seen.limit(to: window)
        return seen
    }

    /// How many records the sweep did not see, edited ones included.
    package func countUnseen(of entity: String, _ seen: SeenRecords, at now: Timestamp) throws -> Int {
        let table = try table(entity)
        guard seen.windows.isEmpty else { return try unseen(of: entity, seen, limit: .max, at: now).count }
        return try read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FROM \(table.name) WHERE _pk BETWEEN ?1 AND ?2 AND \(Self.isUnseen)")
            let since = now - schema.upstream.settle
            var count = 0
            var start: Int64 = 1
            while let gap = seen.gap(from: start) {
                count += try Int.fetchOne(statement, arguments: Self.bounds(gap, seen, of: entity, since: since)) ?? 0
                start = gap.upperBound + 1
            }
            return count
        }
    }

    /// A record that a pull did not see.
    package struct UnseenRecord: Sendable, Equatable {
        package var key: String
        /// The server's last version, without secrets.
        package var remote: JSONText

        package init(key: String, remote: JSONText) {
            self.key = key
            self.remote = remote
        }
    }

    /// The first of the records that the sweep did not see.
    package func unseen(
        of entity: String, _ seen: SeenRecords, limit: Int, at now: Timestamp
    ) throws -> [UnseenRecord] {
        let table = try table(entity)
        var found: [UnseenRecord] = []
        var start: Int64? = 1
        while let from = start, found.count < limit {
            let step = try read { db in
                let size = seen.windows.isEmpty ? limit : Self.batch
                let (rows, next) = try Self.unseenRows(
                    table, seen, from: from, limit: size, since: now - schema.upstream.settle, db)
                let records = try rows.map { row in
                    UnseenRecord(
                        key: row["_key"], remote: sealers[entity].withoutSealed(try JSONText(parsing: row["_remote"])))
                }
                return (records: records, next: next)
            }
            found += step.records
            start = step.next
        }
        return Array(found.prefix(limit))
    }

    /// Whether the sweep did not see a record that was created so recently that the upstream may not list it yet. Whether
    /// it is gone, only another full pull shows.
    package func hasUnseenCreation(of entity: String, _ seen: SeenRecords, at now: Timestamp) throws -> Bool {
        let table = try table(entity)
        let since = now - schema.upstream.settle
        return try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT _pk, _remote FROM sync_settling AS made JOIN \(table.name) ON _key = made.record_key
                        WHERE made.entity = ?1 AND made.kind = 'created' AND made.at > ?2
                          AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?3
                          AND \(PageApplier.isNotBeingDeleted("?1"))
                        """),
                arguments: [entity, since.milliseconds, seen.position])
            return try !Self.expected(rows.filter { !seen.contains($0["_pk"]) }, seen, table.entity).isEmpty
        }
    }

    /// Deletes the records that were not seen, at most 500 per transaction, and forgets which were missing. Returns how
    /// many were deleted; a record with queued changes becomes a conflict.
    ///
    /// `onlyMissing`: only those that the last full pull did not see either (`sync_missing`); all others are remembered
    /// for the next one.
    package func deleteUnseen(
        of entity: String, _ seen: SeenRecords, onlyMissing: Bool = false, at now: Timestamp
    ) async throws -> Int {
        let table = try table(entity)
        var deleted = 0
        var start: Int64? = 1
        var left: [(pk: Int64, key: String)] = []
        while let from = start {
            let step = try await change(at: now) { [self] context in
                let (rows, next) = try Self.unseenRows(
                    table, seen, from: from, limit: Self.batch, since: now - schema.upstream.settle, context.db)
                var (going, staying): ([String], [(pk: Int64, key: String)]) = ([], [])
                for row in rows {
                    let (pk, key): (Int64, String) = (row["_pk"], row["_key"])
                    let isMissing =
                        try !onlyMissing || MissingTable(entity: entity, db: context.db).since(pk, key) != nil
                    // It was not asked for by its key: its change decides when it is sent.
                    let isEdited = (row["_local"] as String?) != nil
                    guard !(onlyMissing && isEdited) else { continue }
                    if isMissing { going.append(key) } else { staying.append((pk, key)) }
                }
                let applier = PageApplier(table: table, context: context)
                return (count: try applier.delete(keys: going, isInferred: true), staying: staying, next: next)
            }
            deleted += step.count
            left += step.staying
            start = step.next
        }
        try await setMissing(onlyMissing ? left : [], of: entity, at: now)
        return deleted
    }

    /// Deletes records that the upstream no longer has, as it said when it was asked for each. Returns how many; a record
    /// with queued changes becomes a conflict.
    ///
    /// `position`: the end of the change log when it was asked; later acknowledgements win.
    package func delete(
        _ keys: [String], of entity: String, position: Int64, at now: Timestamp
    ) async throws -> Int {
        guard !keys.isEmpty else { return 0 }
        let table = try table(entity)
        return try await change(at: now) { context in
            let old = try String.fetchAll(
                context.db.cachedStatement(
                    sql: """
                        SELECT _key FROM json_each(?1) JOIN \(table.name) ON _key = value
                        WHERE _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?2
                        """),
                arguments: [JSONText.array(of: keys).text, position])
            let new = try context.newKeys(of: entity)
            return try PageApplier(table: table, context: context)
                .delete(keys: old.filter { !new.contains($0) }, isInferred: true)
        }
    }

    /// Up to 500 children whose parent the cache does not have: it went while the schema lacked them.
    package func orphans(of children: String, by field: String, in parents: String) throws -> [String] {
        let (table, parents) = (try table(children), try table(parents))
        return try read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT _key FROM \(table.name) AS child
                        WHERE _remote IS NOT NULL AND \(table.sql(for: field)) IS NOT NULL
                          AND \(PageApplier.isNotBeingDeleted("?"))
                          AND NOT EXISTS (
                            SELECT 1 FROM \(parents.name) AS parent WHERE parent._key = \(table.sql(for: field, of: "child.")))
                        LIMIT 500
                        """),
                arguments: [children])
        }
    }

    // MARK: Rows

    /// Records that the server last had, with no change acknowledged since the pull began (?3), and not created so
    /// recently (?5) that the upstream may not list them yet.
    private static let isUnseen = """
        _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?3
          AND \(PageApplier.isNotBeingDeleted("?4"))
          AND _key NOT IN (
            SELECT record_key FROM sync_settling WHERE entity = ?4 AND kind = 'created' AND at > ?5)
        """

    private static func bounds(
        _ gap: ClosedRange<Int64>, _ seen: SeenRecords, of entity: String, since: Timestamp
    ) -> StatementArguments {
        [gap.lowerBound, gap.upperBound, seen.position, entity, since.milliseconds]
    }

    private static func unseenRows(
        _ table: EntityTable, _ seen: SeenRecords, from start: Int64, limit: Int, since: Timestamp, _ db: Database
    ) throws -> (rows: [Row], next: Int64?) {
        let statement = try db.cachedStatement(
            sql: """
                SELECT _pk, _key, _remote, _local FROM \(table.name)
                WHERE _pk BETWEEN ?1 AND ?2 AND \(isUnseen) ORDER BY _pk LIMIT ?6
                """)
        var rows: [Row] = []
        var start = start
        while let gap = seen.gap(from: start) {
            let bounds = bounds(gap, seen, of: table.entity.name, since: since)
            rows += try Row.fetchAll(statement, arguments: bounds + [limit - rows.count])
            if rows.count == limit, let last = rows.last {
                return (try expected(rows, seen, table.entity), (last["_pk"] as Int64) + 1)
            }
            start = gap.upperBound + 1
        }
        return (try expected(rows, seen, table.entity), nil)
    }

    /// Leaves out the rows that a window excludes.
    private static func expected(_ rows: [Row], _ seen: SeenRecords, _ entity: Entity) throws -> [Row] {
        guard !seen.windows.isEmpty else { return rows }
        return try rows.filter { row in
            let remote = try JSONText(parsing: row["_remote"])
            return seen.windows.allSatisfy { $0.holds(for: remote, of: entity) }
        }
    }
}
