internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// One row of SQLite's own table of definitions, as a file has it.
///
/// SQLite runs what the definition says, not what the type and the name beside it say: a file can have a trigger under the
/// type of an index.
struct StoredObject: Hashable {
    var type: String
    var name: String
    /// The table that it belongs to.
    var table: String
    /// Empty for the index of a primary key or a unique column.
    var definition: String
    /// Whether it has pages of its own.
    var isStored: Bool

    static func all(_ db: Database) throws -> [StoredObject] {
        // A column of this table can hold anything, also what is no text.
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT CAST(coalesce(type, '') AS TEXT), CAST(coalesce(name, '') AS TEXT),
                  CAST(coalesce(tbl_name, '') AS TEXT), CAST(coalesce(sql, '') AS TEXT), coalesce(rootpage, 0) <> 0
                FROM sqlite_schema
                """)
        return rows.map {
            StoredObject(type: $0[0], name: $0[1], table: $0[2], definition: $0[3], isStored: $0[4])
        }
    }

    // MARK: Kinds

    var isTable: Bool { type == "table" && isStored && definition.hasPrefix("CREATE TABLE ") }
    var isVirtualTable: Bool { type == "table" && !isStored && definition.hasPrefix("CREATE VIRTUAL TABLE ") }
    var isView: Bool { type == "view" && !isStored && definition.hasPrefix("CREATE VIEW ") }
    var isTrigger: Bool { type == "trigger" && !isStored && definition.hasPrefix("CREATE TRIGGER ") }
    var isIndex: Bool {
        type == "index" && ["CREATE INDEX ", "CREATE UNIQUE INDEX "].contains { definition.hasPrefix($0) }
    }

    /// Whether SQLite made it for a primary key or a unique column.
    var isAutomatic: Bool { type == "index" && definition.isEmpty }

    // MARK: Tables of records

    /// Whether it has the daemon's own columns, those of fields, and nothing else that SQLite would run.
    ///
    /// Every version so far has written its tables in this form. In earlier ones fields were computed by SQLite, from
    /// expressions that can call nothing with an effect and that nothing reads any more.
    func holdsRecords(of entity: String) -> Bool {
        guard isTable, name == EntityTable.prefix + entity else { return false }
        let start = Array("CREATE TABLE \(EntityTable.name(of: entity)) (".utf8)
        let bytes = Array(definition.utf8)
        guard bytes.starts(with: start), bytes.last == UInt8(ascii: ")") else { return false }
        let columns = Array(bytes[start.count..<bytes.count - 1])
        let text = String(decoding: columns, as: UTF8.self)
        guard let outermost = text.outermost, outermost.count == columns.count else { return false }
        return outermost.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy { part in
            Self.isColumn(
                String(decoding: columns[part.startIndex..<part.endIndex], as: UTF8.self),
                outermost: String(decoding: part, as: UTF8.self))
        }
    }

    private static let ownColumns = Set(EntityTable.ownColumns.map { words("\($0.key) \($0.value)") })
    private static let ownNames = Set(EntityTable.ownColumns.map { $0.key.lowercased() })
    private static let types: Set<[String]> = [[], ["TEXT"], ["INTEGER"], ["NUMERIC"]]

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// `outermost`: the same without what is in quotes or parentheses.
    private static func isColumn(_ text: String, outermost: String) -> Bool {
        let all = words(text)
        if ownColumns.contains(all) { return true }
        guard let first = all.first, let name = first.split(separator: "\"").first, first == "\"\(name)\"" else {
            return false
        }
        let isPlain = name.utf8.allSatisfy { nameBytes.contains($0) }
        guard isPlain, !ownNames.contains(name.lowercased()) else { return false }
        let shown = words(outermost)
        return types.contains(shown) || types.contains { shown == $0 + ["AS", "VIRTUAL"] }
    }

    /// What names of entities and fields are made of.
    static let nameBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)
}
