internal import EntitySchema
internal import SQLiteStore

/// The most frequent questions to a store, which each reading connection keeps prepared, and what their answers need.
struct FixedQueries: Sendable {
    /// How one record is read, and what completes the rows of all, by entity.
    ///
    /// A class only because each read copies it.
    final class Reading: Sendable {
        let table: EntityTable
        let one: NumberedSQL
        /// One that was changed just now; see `RecordSelect.changed`.
        let changed: NumberedSQL?
        let lists: ListStatement.Common
        /// Without labels.
        let extras: RecordExtras
        let large: RecordMark

        init(_ entity: Entity, _ sealers: RecordSealers, _ numbers: inout StatementNumbers) {
            table = EntityTable(entity: entity)
            let select = RecordSelect(table: table)
            one = numbers.next(select.one)
            changed = select.changed.map { numbers.next($0) }
            lists = ListStatement.Common(table)
            extras = RecordExtras(table, sealers)
            large = sealers.marks[entity.name]?.large ?? .large(table)
        }
    }

    let records: [String: Reading]
    /// See `LoadedCondition`, by entity.
    let loaded: [String: NumberedSQL]
    /// See `CacheStore.summary`; one statement, so that all of it is of one moment.
    let summary: NumberedSQL
    /// See `CacheStore.pendingCount`.
    let pending: NumberedSQL
    /// The value of a setting.
    let setting: NumberedSQL

    init(_ schema: EntitySchema, _ sealers: RecordSealers, _ numbers: inout StatementNumbers) {
        var records: [String: Reading] = [:]
        var loaded: [String: NumberedSQL] = [:]
        for entity in schema.entities {
            records[entity.name] = Reading(entity, sealers, &numbers)
            loaded[entity.name] = numbers.next(LoadedCondition(entity: entity, schema: schema).sql)
        }
        self.records = records
        self.loaded = loaded
        summary = numbers.next(
            """
            \(Self.queueCounts)
            UNION ALL
            SELECT 0, 'parked', (SELECT count(*) FROM sync_hook_parked), NULL, NULL, NULL, NULL, NULL
            UNION ALL
            SELECT 0, name, count, NULL, NULL, NULL, NULL, NULL FROM sync_tally
            UNION ALL
            SELECT 1, entity, last_synced_at, watermark, held_deletions, error, held, total FROM sync_cursor
            UNION ALL
            \(Self.setting("?"))
            UNION ALL
            \(Self.setting("'account'"))
            UNION ALL
            \(Self.setting("'\(SettingTable.accountName)'"))
            """)
        pending = numbers.next(Self.queueCounts)
        setting = numbers.next("SELECT value FROM sync_setting WHERE name = ?")
    }

    /// One by its name: for a list of names SQLite would fill a table first.
    private static func setting(_ name: String) -> String {
        "SELECT 2, name, NULL, value, NULL, NULL, NULL, NULL FROM sync_setting WHERE name = \(name)"
    }

    /// SQLite counts a table by the pages of its smallest index, which takes half a millisecond for 100,000 changes, and the
    /// failed changes have an index of their own.
    private static let queueCounts = """
        SELECT 0, 'queue', (SELECT count(*) FROM sync_outbox), NULL, NULL, NULL, NULL, NULL
        UNION ALL
        SELECT 0, 'failed', (SELECT count(*) FROM sync_outbox WHERE state = \(OutboxState.failed.sql)), NULL, NULL, NULL,
          NULL, NULL
        """
}
