internal import EntitySchema
internal import SQLiteStore

/// The most frequent questions to a store, which each reading connection keeps prepared.
struct FixedQueries: Sendable {
    /// One record, by entity.
    let record: [String: NumberedSQL]
    /// See `CacheStore.summary`; one statement, so that all of it is of one moment.
    let summary: NumberedSQL
    /// See `CacheStore.pendingCount`.
    let tallies: NumberedSQL
    /// The value of a setting.
    let setting: NumberedSQL

    init(_ schema: EntitySchema, _ numbers: inout StatementNumbers) {
        var record: [String: NumberedSQL] = [:]
        for entity in schema.entities {
            record[entity.name] = numbers.next(RecordSelect(table: EntityTable(entity: entity)).one)
        }
        self.record = record
        summary = numbers.next(
            """
            SELECT 0, name, count, NULL, NULL, NULL FROM sync_tally
            UNION ALL
            SELECT 1, entity, last_synced_at, watermark, held_deletions, error FROM sync_cursor
            UNION ALL
            SELECT 2, name, NULL, value, NULL, NULL FROM sync_setting WHERE name = ?
            """)
        tallies = numbers.next("SELECT name, count FROM sync_tally")
        setting = numbers.next("SELECT value FROM sync_setting WHERE name = ?")
    }
}
