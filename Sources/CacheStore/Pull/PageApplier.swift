internal import EntitySchema
internal import GRDB
internal import JSONText

/// Writes one page of records into an entity's table, inside the caller's transaction.
///
/// One statement writes all that differ, the records' text passing through unchanged (`IncomingRecords`).
struct PageApplier {
    let table: EntityTable
    let context: WriteContext

    var db: Database { context.db }
    private var now: Timestamp { context.now }
    private var row: RecordRow { context.row(table) }
    private var merge: Merge { Merge(table: table, context: context) }

    /// Writes the records that were put into `sync_incoming`. `clear`: the same before their secrets were sealed.
    /// `position`: where the change log ended when the page was asked for.
    func applyIncoming(clear: String, position: Int64) throws -> PageOutcome {
        var outcome = try summary()
        if outcome.setAside > 0 { try setAside() }
        let before = try greatestPK()
        let written = try upsert(position)
        try DriftTable(table: table, db: db, now: now).count(clear, written: written.keys)
        for key in written.changedHere { try merge.mergeRemote(of: key) }
        // One statement only ever inserts at the end, so the table has grown by as many rows as the key has.
        let inserted = try greatestPK() - before
        try row.tally(inserted)
        outcome.hadBefore = outcome.records - outcome.setAside - outcome.deleted - Int(inserted)
        outcome.written = written.keys.count
        try context.log.append(.upserted, entity: table.entity.name, keys: written.keys)
        if outcome.deleted > 0 { outcome.deleted = try delete(keys: tombstones()) }
        return outcome
    }

    // MARK: What came

    private func summary() throws -> PageOutcome {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) AS records, coalesce(sum(NOT usable), 0) AS set_aside,
                      coalesce(sum(usable AND deleted), 0) AS deleted,
                      max(changed) FILTER (WHERE changed <= ?) AS latest
                    FROM sync_incoming
                    """), arguments: [Self.latestPlausible(at: now)])
        return PageOutcome(
            records: row?["records"] ?? 0, deleted: row?["deleted"] ?? 0, setAside: row?["set_aside"] ?? 0,
            latestChange: row?["latest"])
    }

    private func setAside() throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_set_aside (entity, record, at)
                SELECT ?1, substr(\(setAsideText), 1, 4096), ?2 FROM sync_incoming
                WHERE NOT usable AND value IS NOT NULL
                ON CONFLICT DO NOTHING
                """
        ).execute(arguments: [table.entity.name, now.milliseconds])
    }

    /// Without change times that cannot be: what is no time, or lies more than a day ahead. Pulls that went on from such a
    /// time would miss all that happens until then.
    static func latestPlausible(at now: Timestamp) -> String { (now + .seconds(86_400)).description }

    /// Strings are there without their quotes, which need not be JSON.
    private var setAsideText: String {
        guard table.hasSecrets else { return "CAST(value AS TEXT)" }
        return "iif(json_valid(value), \(table.withoutSecrets("sync_incoming.value")), CAST(value AS TEXT))"
    }

    private func tombstones() throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT key FROM sync_incoming WHERE usable AND deleted ORDER BY rowid"))
    }

    // MARK: Writing

    /// Returns the keys of the records that were new or differed, and those of them with queued changes. One whose change
    /// was acknowledged after the page was asked for stays as the acknowledgement left it, deleted ones included.
    private func upsert(_ position: Int64) throws -> (keys: [String], changedHere: [String]) {
        try db.cachedStatement(sql: "DELETE FROM sync_gone WHERE entity = ? AND position <= ?")
            .execute(arguments: [table.entity.name, position])
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    INSERT INTO \(table.name) (_key, _remote, _synced_at)
                    SELECT key, value, ?1 FROM sync_incoming WHERE usable AND NOT deleted AND NOT EXISTS (
                      SELECT 1 FROM sync_gone WHERE entity = ?3 AND record_key = key)
                    ORDER BY sync_incoming.rowid
                    ON CONFLICT (_key) DO UPDATE SET _remote = excluded._remote, _version = NULL, _gone = 0,
                      _synced_at = excluded._synced_at
                    WHERE _remote IS NOT excluded._remote AND coalesce(_acknowledged, 0) <= ?2
                    RETURNING _key, _local IS NOT NULL
                    """),
            arguments: [now.milliseconds, position, table.entity.name])
        var keys: [String] = []
        var changedHere: [String] = []
        while let row = try rows.next() {
            keys.append(row[0])
            if row[1] { changedHere.append(row[0]) }
        }
        try SearchIndex.noteInserted(table.entity, db)
        return (keys, changedHere)
    }

    /// Deletes records, and what the schema cascades to. What becomes of one with queued changes is a conflict.
    func delete(keys: [String]) throws -> Int {
        guard !keys.isEmpty else { return 0 }
        let list = JSONText.array(keys.map(JSONText.string)).text
        let changedHere = try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT _key FROM \(table.name) WHERE _key IN (SELECT value FROM json_each(?)) AND _local IS NOT NULL
                    """),
            arguments: [list])
        for key in changedHere { try merge.mergeDeletion(of: key) }
        var gone = try String.fetchAll(
            db.cachedStatement(
                sql: """
                    DELETE FROM \(table.name) WHERE _key IN (SELECT value FROM json_each(?)) AND _local IS NULL
                    RETURNING _key
                    """),
            arguments: [list])
        try row.tally(-Int64(gone.count))
        gone += try changedHere.filter { try !row.exists($0) }
        try context.log.append(.deleted, entity: table.entity.name, keys: gone)
        // Also from those kept for a change here: what the server deleted with them is gone all the same.
        try settleChildren(of: keys)
        return gone.count
    }

    func greatestPK() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0
    }
}
