internal import EntitySchema
internal import GRDB
internal import JSONText

/// The local-only records that a damaged database still has: no pull brings them back.
struct LocalRecords {
    private static let setting = "local"

    /// Entity → its records, as stored.
    private(set) var records: [String: [JSONText]] = [:]

    init() {}

    /// `settings` are those of the database and name the entities, so a rescue does not need the schema.
    init(_ db: Database, settings: [String: String]) {
        let names = settings[Self.setting].flatMap { try? JSONText(parsing: $0) }?.elements.compactMap(\.string) ?? []
        for name in names {
            var found: [JSONText] = []
            let table = EntityTable.name(of: name)
            _ = DamagedTable(name: table, key: "_pk", db: db).forEachRow { row in
                guard let text: String = row["_remote"], let record = try? JSONText(parsing: text) else { return }
                found.append(record)
            }
            records[name] = found
        }
    }

    /// Takes the records of entities that this reading has none of from an older one.
    mutating func merge(_ older: LocalRecords) {
        records.merge(older.records) { mine, theirs in mine.isEmpty ? theirs : mine }
    }

    /// Records the names of the local-only entities, for reading the file without its schema.
    static func note(_ schema: EntitySchema, _ db: Database) throws {
        let names = JSONText.array(of: schema.entities.filter(\.isLocal).map(\.name)).text
        try SettingTable(db: db).set(setting, to: names)
    }
}
