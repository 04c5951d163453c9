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
    let records: RecordTransaction
    let now: Timestamp

    private var schema: EntitySchema { records.plans.schema }
    private var db: Database { records.db }

    /// The number of records per batch, however many a bulk load brings.
    private static let batch = 1000

    /// A recomputed record may make others stale in turn. This ends, because nothing is derived from a derived field.
    func work() throws {
        while let (entity, stale) = records.stale.take(atMost: Self.batch) {
            guard let entity = schema[entity] else { continue }
            let table = EntityTable(entity: entity)
            let keys = JSONText.array(of: stale.keys.map(\.text))
            var position: Int64? = .min
            while let reached = position {
                let (rows, areAll) = try load(keys, after: reached, table)
                try recompute(rows, stale, table)
                position = areAll ? nil : rows.last?.pk
            }
        }
    }

    /// While the figures cannot be found, they stay as they are.
    private func recompute(
        _ rows: [RecordImage], _ stale: [ExactText: StaleRecords.Stale], _ table: EntityTable
    ) throws {
        let entity = table.entity
        let rows = rows.filter { stale[$0.key.exact]?.cause != .sentChildren || isFigureUnsaid($0, entity) }
        guard !rows.isEmpty else { return }
        var changes = Changes()
        func lay(_ row: RecordImage, _ derived: JSONText?) throws {
            guard let stale = stale[row.key.exact] else { return }
            try self.lay(row, stale, derived, table, &changes)
        }
        let postponed = PostponedFigures(table, in: schema, db)
        if try postponed.mustWait() {
            try postponed.postpone()
            for row in rows { try lay(row, row.derived) }
        } else {
            try RelationAggregates.forEachPart(of: rows, postponed.figures, db) { part, derived in
                for row in part { try lay(row, derived[row.key.exact]) }
            }
        }
        let log = ChangeLog(records: records, at: now)
        try log.append(.upserted, entity: entity.name, keys: changes.shown)
        try log.append(.deleted, entity: entity.name, keys: changes.hidden)
    }

    /// The next of these records, as in `BoundStatement.images`. Only their `_pk` is sorted, not whole records.
    private func load(
        _ keys: JSONText, after pk: Int64, _ table: EntityTable
    ) throws -> (images: [RecordImage], areAll: Bool) {
        let statement = BoundStatement(
            try db.cachedStatement(
                sql: """
                    SELECT \(RecordImage.columns) FROM \(table.name) WHERE _pk IN (
                      SELECT _pk FROM \(table.name) WHERE _key IN (SELECT value FROM json_each(?1)) AND +_pk > ?2)
                    ORDER BY _pk
                    """))
        try statement.bind(keys, to: 1)
        try statement.bind(pk, to: 2)
        return try statement.images()
    }

    /// Whether the server leaves out a figure that is computed from children.
    private func isFigureUnsaid(_ row: RecordImage, _ entity: Entity) -> Bool {
        entity.figures.contains { entity.serverValue(of: $0, in: row.remote) == nil }
    }

    // MARK: One entity

    private struct Changes {
        var shown: [String] = []
        var hidden: [String] = []
    }

    private func lay(
        _ row: RecordImage, _ stale: StaleRecords.Stale, _ derived: JSONText?, _ table: EntityTable,
        _ changes: inout Changes
    ) throws {
        let writer = records.writer(table)
        if derived != row.derived {
            try writer.setDerived(derived, of: row.key)
        } else {
            switch stale.cause {
            case .sentChildren, .children: return
            case .version: if isAsTheServerSays(row, stale, writer.plan) { return }
            case .owner: break
            }
        }
        try writer.rebuildDocument(over: row.key, shown: stale.shown)
        // If the record itself changed, its writer logs that.
        guard stale.cause != .version else { return }
        let isDeleted = try writer.row.isDeleted(row.key)
        if isDeleted, !row.isDeleted { changes.hidden.append(row.key) }
        if !isDeleted { changes.shown.append(row.key) }
    }

    /// True for most records that a pull brings, which then need no statement of their own.
    private func isAsTheServerSays(_ row: RecordImage, _ stale: StaleRecords.Stale, _ plan: RecordPlan) -> Bool {
        guard row.whole == nil, row.derived == nil, let remote = row.remote else { return false }
        return plan.overlay.computed.overlay(
            edited: row.shown ?? remote, remote: remote, creation: nil, shown: [stale.shown].compactMap(\.self)
        ).isEmpty
    }
}
