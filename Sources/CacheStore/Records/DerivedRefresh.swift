internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Recomputes what a transaction has made stale: fields derived from other records, cascading deletions, and the
/// resulting documents.
///
/// Runs at the end of that transaction, before anything is answered from it. A record is written only if readers see
/// something else afterwards.
struct DerivedRefresh {
    let schema: EntitySchema
    let db: Database
    let now: Timestamp

    /// The number of records per batch, however many a bulk load brings.
    private static let batch = 1000

    enum Cause: Int {
        case children, version, owner
    }

    private struct Stale {
        var cause: Cause
        var shown: JSONText?
    }

    private struct Known {
        var key: String
        var remote: JSONText?
        var derived: String?
        var isPlain: Bool
        var isDeleted: Bool
    }

    /// A recomputed record may make others stale in turn. This ends, because nothing is derived from a derived field.
    func work() throws {
        while let entity = try next() {
            let stale = try take(of: entity)
            guard let entity = schema[entity] else { continue }
            let table = EntityTable(entity: entity)
            let rows = try load(Array(stale.keys), table)
            let derived = try derived(rows, table)
            var changes = Changes()
            for row in rows {
                guard let cause = stale[row.key] else { continue }
                try lay(row, cause, derived[row.key], table, &changes)
            }
            let log = ChangeLog(db: db, at: now)
            try log.append(.upserted, entity: entity.name, keys: changes.shown)
            try log.append(.deleted, entity: entity.name, keys: changes.hidden)
        }
    }

    private func next() throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT entity FROM sync_stale LIMIT 1"))
    }

    private func take(of entity: String) throws -> [String: Stale] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    DELETE FROM sync_stale WHERE entity = ?1 AND record_key IN (
                      SELECT record_key FROM sync_stale WHERE entity = ?1 LIMIT ?2)
                    RETURNING record_key, cause, shown
                    """),
            arguments: [entity, Self.batch])
        return try rows.reduce(into: [:]) { stale, row in
            stale[row[0]] = Stale(
                cause: Cause(rawValue: row[1]) ?? .owner,
                shown: try (row[2] as String?).map { try JSONText(parsing: $0) })
        }
    }

    private func load(_ keys: [String], _ table: EntityTable) throws -> [Known] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT _key, _remote, _derived, _document IS NULL, _deleted FROM \(table.name)
                    WHERE _key IN (SELECT value FROM json_each(?)) ORDER BY _pk
                    """),
            arguments: [JSONText.array(keys.map(JSONText.string)).text]
        ).map { row in
            Known(
                key: row[0], remote: try (row[1] as String?).map { try JSONText(parsing: $0) }, derived: row[2],
                isPlain: row[3], isDeleted: row[4])
        }
    }

    // MARK: One entity

    /// The derived members of each record, as stored in `_derived`.
    private func derived(_ rows: [Known], _ table: EntityTable) throws -> [String: String] {
        var members: [String: [(key: String, value: JSONText)]] = [:]
        for figures in RelationAggregates.all(of: table, in: schema) {
            let found = try figures.values(for: rows.map { (key: $0.key, remote: $0.remote) }, db)
            members.merge(found) { $0 + $1 }
        }
        return members.mapValues { JSONText.object(members: $0).text }
    }

    private struct Changes {
        var shown: [String] = []
        var hidden: [String] = []
    }

    private func lay(
        _ row: Known, _ stale: Stale, _ derived: String?, _ table: EntityTable, _ changes: inout Changes
    ) throws {
        if derived != row.derived {
            try db.cachedStatement(sql: "UPDATE \(table.name) SET _derived = ? WHERE _key = ?")
                .execute(arguments: [derived, row.key])
        } else if stale.cause == .children || stale.cause == .version && isAsTheServerSays(row, stale, table) {
            return
        }
        let content = RecordRow(table: table, db: db)
        try content.rebuildDocument(over: row.key, shown: stale.shown)
        // If the record itself changed, its writer logs that.
        guard stale.cause != .version else { return }
        let isDeleted = try content.isDeleted(row.key)
        if isDeleted, !row.isDeleted { changes.hidden.append(row.key) }
        if !isDeleted { changes.shown.append(row.key) }
    }

    /// True for most records that a pull brings, which then need no statement of their own.
    private func isAsTheServerSays(_ row: Known, _ stale: Stale, _ table: EntityTable) -> Bool {
        guard row.isPlain, row.derived == nil, let remote = row.remote else { return false }
        return ComputedFields(entity: table.entity).overlay(
            edited: remote, remote: remote, creation: nil, shown: [stale.shown].compactMap(\.self)
        ).isEmpty
    }
}
