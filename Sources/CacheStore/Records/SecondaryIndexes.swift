internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// The indexes of one entity's table besides that of its key: dropped for a first load, which is faster without them,
/// and built afterwards, each in a transaction of its own. Figures that need them wait meanwhile (`PostponedFigures`).
///
/// A setting says that some are missing, so that a start builds what a crash has left out.
struct SecondaryIndexes {
    let table: EntityTable
    let db: Database

    /// The setting of an entity whose indexes are missing.
    static func setting(_ entity: String) -> String { "indexes:\(entity)" }

    private var setting: String { Self.setting(table.entity.name) }

    func areMissing() throws -> Bool { try SettingTable(db: db)[setting] != nil }

    /// Records that some are missing.
    func request() throws { try SettingTable(db: db).set(setting, to: "1") }

    /// Drops them. Lists stay right, but have to sort.
    func postpone() throws {
        for name in try present().keys { try Self.drop(name, db) }
        try request()
    }

    /// The name may come from the file, which another program may have changed.
    static func drop(_ name: String, _ db: Database) throws {
        try db.execute(sql: "DROP INDEX \(name.quoted(by: "\""))")
    }

    /// The longest value, in bytes, that a table may have when an index is built. To build it, SQLite sorts all values
    /// and keeps one of every few MiB in memory, so many values as large as records would fill that.
    static let longest = 64 << 10

    /// Builds all that are missing. Call this before writing a longer value: inserting it into an existing index takes
    /// only its own memory.
    func buildAll() throws {
        guard try areMissing() else { return }
        while try buildNext() {}
    }

    /// Builds the next one; false when none is missing any more.
    func buildNext() throws -> Bool {
        let present = try present()
        guard let missing = table.indexes.filter({ present[$0.key] == nil }).min(by: { $0.key < $1.key }) else {
            try SettingTable(db: db).remove(setting)
            return false
        }
        try db.execute(sql: missing.value)
        return true
    }

    /// Name → statement of those that the table has.
    func present() throws -> [String: String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT CAST(coalesce(name, '') AS TEXT), CAST(sql AS TEXT) FROM sqlite_schema
                WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL
                """,
            arguments: [table.bareName])
        return rows.reduce(into: [:]) { indexes, row in indexes[row[0] as String] = row[1] as String }
    }
}
