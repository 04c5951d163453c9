internal import EntitySchema
internal import GRDB
internal import JSONText

/// The records that are kept on this machine alone, as far as a damaged database still has them: no pull brings them back.
struct LocalRecords {
    private static let setting = "local"

    /// Entity → its records, as they are stored.
    private(set) var records: [String: [JSONText]] = [:]

    init() {}

    /// `settings` are those of the database, which name the entities: nobody who rescues one need know its schema.
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

    /// Takes from an older reading what this one has nothing of.
    mutating func merge(_ older: LocalRecords) {
        records.merge(older.records) { mine, theirs in mine.isEmpty ? theirs : mine }
    }

    /// Writes down which entities these are, for whoever reads the file without its schema.
    static func note(_ schema: EntitySchema, _ db: Database) throws {
        let names = JSONText.array(schema.entities.filter(\.isLocal).map { .string($0.name) }).text
        try db.execute(
            sql: """
                INSERT INTO sync_setting VALUES (?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value
                """,
            arguments: [setting, names])
    }
}
