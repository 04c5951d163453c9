package import EntitySchema
internal import GRDB
internal import JSONText

/// Records that the last full pull did not see: the next one decides whether they were deleted.
extension CacheStore {
    /// Whether records are missing that another full pull decides about.
    package func hasMissing(of entity: String) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_missing WHERE entity = ?)"),
                arguments: [entity]) ?? false
        }
    }

    /// Forgets which records were missing. Writes nothing when there are none.
    package func forgetMissing(of entity: String, at now: Timestamp) async throws {
        guard try hasMissing(of: entity) else { return }
        try await setMissing([], of: entity, at: now)
    }

    /// Remembers the missing records for the next full pull, and returns which of them were missing in the last.
    ///
    /// `upTo`: when the answers that lack them were given. Those that were not missing before may have been missing in
    /// the same answer, and are not returned. A record with a just acknowledged change existed, so it does not count as
    /// missing.
    package func noteMissing(
        _ keys: [String], of entity: String, upTo answered: Timestamp, at now: Timestamp
    ) async throws -> [String] {
        guard try !keys.isEmpty || hasMissing(of: entity) else { return [] }
        let table = try table(entity)
        return try await change(at: now) { context in
            let missing = MissingTable(entity: entity, db: context.db)
            let rows = try Row.fetchAll(
                context.db.cachedStatement(
                    sql: "SELECT DISTINCT _pk, _key FROM json_each(?1) JOIN \(table.name) ON _key = value"),
                arguments: [JSONText.array(of: keys).text])
            let known = try rows.map { (pk: $0[0] as Int64, key: $0[1] as String) }
                .filter { try context.settling(of: $0.key, table.entity) == nil }
            // A clock that was set back starts the time again.
            let since = try known.map { row in try missing.since(row.pk, row.key).map { min($0, now) } }
            try missing.forgetAll()
            for (row, time) in zip(known, since) { try missing.insert(row.pk, row.key, at: time ?? now) }
            return zip(known, since).filter { _, time in time.map { $0 <= answered } ?? false }.map(\.0.key)
        }
    }

    /// Remembers these missing records instead of those before.
    func setMissing(
        _ rows: [(pk: Int64, key: String, since: Timestamp)], of entity: String, at now: Timestamp
    ) async throws {
        guard try !rows.isEmpty || hasMissing(of: entity) else { return }
        try await change(at: now) { context in
            let missing = MissingTable(entity: entity, db: context.db)
            try missing.forgetAll()
            for row in rows { try missing.insert(row.pk, row.key, at: row.since) }
        }
    }
}
