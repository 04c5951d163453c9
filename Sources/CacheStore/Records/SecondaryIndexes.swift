internal import EntitySchema
internal import GRDB

/// The indexes of one entity's table besides that of its key: dropped for a first load, which is faster without them,
/// and built afterwards, each in a transaction of its own. Those that each page needs stay: what a parent computes from its
/// children is found by their reference to it.
///
/// A setting says that some are missing, so that a start builds what a crash has left out.
struct SecondaryIndexes {
    let table: EntityTable
    let db: Database

    /// The setting of an entity whose indexes are missing.
    static func setting(_ entity: String) -> String { "indexes:\(entity)" }

    private var setting: String { Self.setting(table.entity.name) }

    func areMissing() throws -> Bool {
        try SettingTable(db: db)[setting] != nil
    }

    /// Records that some are missing.
    func request() throws {
        try SettingTable(db: db).set(setting, to: "1")
    }

    /// Drops all but those that each page needs. Lists stay right, but have to sort.
    func postpone(in schema: EntitySchema) throws {
        for name in try present().subtracting(needed(in: schema)) { try db.execute(sql: "DROP INDEX \"\(name)\"") }
        try request()
    }

    private func needed(in schema: EntitySchema) -> Set<String> {
        let name = table.entity.name
        let figures = schema.entities.flatMap { RelationAggregates.all(of: EntityTable(entity: $0), in: schema) }
        return Set(
            figures.filter { $0.child.entity.name == name }.flatMap {
                ["\(name)_by_\($0.reference.name)", "\(name)_displaced_by_\($0.reference.name)"]
            })
    }

    /// Builds the next one; false when none is missing any more.
    func buildNext() throws -> Bool {
        let present = try present()
        guard let missing = table.indexes.filter({ !present.contains($0.key) }).min(by: { $0.key < $1.key }) else {
            try SettingTable(db: db).remove(setting)
            return false
        }
        try db.execute(sql: missing.value)
        return true
    }

    private func present() throws -> Set<String> {
        try String.fetchSet(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            arguments: ["records_\(table.entity.name)"])
    }
}
