internal import EntitySchema
internal import GRDB

/// The figures that one entity computes from records of others, while those are loaded without indexes: they stay as
/// they are, and are computed once, in steps of one transaction each, when the load has ended.
///
/// A setting says that some are outdated, and up to which `_pk` they have been computed.
struct PostponedFigures {
    let table: EntityTable
    let figures: [RelationAggregates]
    let db: Database

    init(_ table: EntityTable, in schema: EntitySchema, _ db: Database) {
        self.table = table
        figures = RelationAggregates.all(of: table, in: schema)
        self.db = db
    }

    /// The setting of an entity with outdated figures.
    static func setting(_ entity: String) -> String { "figures:\(entity)" }

    private var setting: String { Self.setting(table.entity.name) }

    /// The records of one step: other writes wait some 20 ms for it.
    private static let batch = 500

    func areOutdated() throws -> Bool { try SettingTable(db: db)[setting] != nil }

    /// Whether records that they are computed from can only be found by reading whole tables.
    func mustWait() throws -> Bool {
        try figures.contains { try SecondaryIndexes(table: $0.child, db: db).areMissing() }
    }

    /// Records that those of any record may be outdated.
    func postpone() throws { try SettingTable(db: db).set(setting, to: "0") }

    /// Computes those of the next records in a transaction of its own; false when none is left that can be computed
    /// now. `refresh` recomputes the records that it has noted as stale.
    func computeNext(in records: RecordTransaction, refresh: () throws -> Void) throws -> Bool {
        let settings = SettingTable(db: db)
        guard let reached = try settings[setting].flatMap({ Int64($0) }), try !mustWait() else { return false }
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT _pk, _key FROM \(table.name) WHERE _pk > ? ORDER BY _pk LIMIT \(Self.batch)"),
            arguments: [reached])
        guard let last = rows.last else {
            try settings.remove(setting)
            return false
        }
        for row in rows { records.stale.insert(row[1], of: table.entity.name, .children) }
        try settings.set(setting, to: "\(last[0] as Int64)")
        try refresh()
        return true
    }
}
