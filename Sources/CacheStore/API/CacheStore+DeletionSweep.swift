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
        guard seen.windows.isEmpty else { return try unseenRows(table, seen, limit: .max, at: now).count }
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
        /// The server's last version, without secrets; nil if those of the records before it take `mostBytes`.
        package var remote: JSONText?

        package init(key: String, remote: JSONText? = nil) {
            self.key = key
            self.remote = remote
        }
    }

    /// The most bytes that the records of one call of `unseen` may take.
    private static let mostBytes = 16 << 20

    /// The first of the records that the sweep did not see.
    package func unseen(
        of entity: String, _ seen: SeenRecords, limit: Int, at now: Timestamp
    ) throws -> [UnseenRecord] {
        var bytes = 0
        return try unseenRows(table(entity), seen, limit: limit, at: now).prefix(limit).map { row in
            guard bytes < Self.mostBytes, let remote = try remote(of: entity, key: row.key) else {
                return UnseenRecord(key: row.key)
            }
            bytes += remote.bytes.count
            return UnseenRecord(key: row.key, remote: remote)
        }
    }

    private func unseenRows(
        _ table: EntityTable, _ seen: SeenRecords, limit: Int, at now: Timestamp
    ) throws -> [UnseenRow] {
        var found: [UnseenRow] = []
        var start: Int64? = 1
        while let from = start, found.count < limit {
            let step = try read { db in
                try Self.unseenRows(
                    table, seen, from: from, limit: seen.windows.isEmpty ? limit : Self.batch,
                    since: now - schema.upstream.settle, db)
            }
            found += step.rows
            start = step.next
        }
        return found
    }

    /// Whether the sweep did not see a record that was created so recently that the upstream may not list it yet. Whether
    /// it is gone, only another full pull shows.
    package func hasUnseenCreation(of entity: String, _ seen: SeenRecords, at now: Timestamp) throws -> Bool {
        let table = try table(entity)
        let since = now - schema.upstream.settle
        return try read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT _pk, _remote FROM sync_settling AS made JOIN \(table.name) ON _key = made.record_key
                        WHERE made.entity = ?1 AND made.kind = 'created' AND made.at > ?2
                          AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?3
                          AND \(PageApplier.isNotBeingDeleted("?1"))
                        """),
                arguments: [entity, since.milliseconds, seen.position])
            while let row = try rows.next() {
                if try !seen.contains(row[0]) && Self.isExpected(row[1], seen, table.entity) { return true }
            }
            return false
        }
    }

    /// Deletes the records that were not seen, at most 500 per transaction, and forgets which were missing. Returns how
    /// many were deleted; a record with queued changes becomes a conflict.
    ///
    /// `onlyMissing`: only those that the last full pull did not see either (`sync_missing`); all others are remembered
    /// for the next one. `upTo`: when the list was answered; what was first missed after that may be missing in this same answer.
    package func deleteUnseen(
        of entity: String, _ seen: SeenRecords, onlyMissing: Bool = false, upTo answered: Timestamp? = nil,
        at now: Timestamp
    ) async throws -> Int {
        let table = try table(entity)
        var deleted = 0
        var start: Int64? = 1
        var left: [(pk: Int64, key: String, since: Timestamp)] = []
        while let from = start {
            let step = try await change(at: now) { [self] context in
                let (rows, next) = try Self.unseenRows(
                    table, seen, from: from, limit: Self.batch, since: now - schema.upstream.settle, context.db)
                let missing = MissingTable(entity: entity, db: context.db)
                var (going, staying): ([String], [(pk: Int64, key: String, since: Timestamp)]) = ([], [])
                // An edited record was not asked for by its key: its change decides when it is sent.
                for row in rows where !(onlyMissing && row.isEdited) {
                    let since = try onlyMissing ? missing.since(row.pk, row.key).map { min($0, now) } : nil
                    let isGoing = !onlyMissing || since.map { $0 <= answered ?? now } ?? false
                    if isGoing { going.append(row.key) } else { staying.append((row.pk, row.key, since ?? now)) }
                }
                let deletion = RecordDeletion(table: table, context: context)
                return (count: try deletion.delete(keys: going, isInferred: true), staying: staying, next: next)
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
            return try RecordDeletion(table: table, context: context)
                .delete(keys: old.filter { !new.contains($0.exact) }, isInferred: true)
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

    /// Whether at least three parents have so many children, and none has more. `field` has the parent's key.
    package func endTogether(at count: Int, _ children: String, by field: String) throws -> Bool {
        let table = try table(children)
        return try read { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT max(size) = ?1 AND sum(size = ?1) >= 3 FROM (
                          SELECT count(*) AS size FROM \(table.name)
                          WHERE _remote IS NOT NULL AND \(table.sql(for: field)) IS NOT NULL GROUP BY \(table.sql(for: field)))
                        """),
                arguments: [count]) ?? false
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

    private struct UnseenRow {
        var pk: Int64
        var key: String
        var isEdited: Bool
    }

    /// Reads at most `limit` rows, and returns those that no window excludes. Records may be large, so only one is in
    /// memory at a time.
    private static func unseenRows(
        _ table: EntityTable, _ seen: SeenRecords, from start: Int64, limit: Int, since: Timestamp, _ db: Database
    ) throws -> (rows: [UnseenRow], next: Int64?) {
        let statement = try db.cachedStatement(
            sql: """
                SELECT _pk, _key, _local IS NOT NULL, \(seen.windows.isEmpty ? "NULL" : "_remote") FROM \(table.name)
                WHERE _pk BETWEEN ?1 AND ?2 AND \(isUnseen) ORDER BY _pk LIMIT ?6
                """)
        var rows: [UnseenRow] = []
        var (start, count) = (start, 0)
        while let gap = seen.gap(from: start) {
            let bounds = bounds(gap, seen, of: table.entity.name, since: since)
            let found = try Row.fetchCursor(statement, arguments: bounds + [limit - count])
            var last: Int64 = 0
            while let row = try found.next() {
                (last, count) = (row[0], count + 1)
                guard try isExpected(row[3], seen, table.entity) else { continue }
                rows.append(UnseenRow(pk: last, key: row[1], isEdited: row[2]))
            }
            if count == limit { return (rows, last + 1) }
            start = gap.upperBound + 1
        }
        return (rows, nil)
    }

    /// Whether no window excludes the record.
    private static func isExpected(_ remote: String?, _ seen: SeenRecords, _ entity: Entity) throws -> Bool {
        guard !seen.windows.isEmpty, let remote else { return true }
        let record = try JSONText(parsing: remote)
        return seen.windows.allSatisfy { $0.holds(for: record, of: entity) }
    }
}
