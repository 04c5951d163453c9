internal import EntitySchema
internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Values that no backup has, and that the daemon could not use.
extension BackupCheck {
    /// Files are opened by the names of contents, and headers have their types.
    func requireContents() throws {
        guard try db.tableExists("sync_content") else { return }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT CAST(sha256 AS TEXT), CAST(type AS TEXT) FROM sync_content
                UNION ALL SELECT CAST(content AS TEXT), '' FROM sync_outbox WHERE content <> ''
                """)
        while let row = try rows.next() {
            let (name, type): (String?, String?) = (row[0], row[1])
            guard let name, let type, Content.isName(name), Content.isType(type) else {
                throw refusal("the content \((name ?? "").start(scalars: 100)), whose name or type no content can have")
            }
        }
    }

    /// A number near the greatest one leaves none for the next row. A value of another type, or that is no JSON, cannot be
    /// read, and one with very many combining marks takes minutes to compare. A name must be read as it is.
    func requireValues() throws {
        db.add(function: StoredJSON.isValid)
        db.add(function: StoredJSON.isComparable)
        db.add(function: StoredName.isWhole)
        for object in try StoredObject.all(db) where object.isTable {
            let isOfRecords = object.name.hasPrefix(EntityTable.prefix)
            guard isOfRecords || object.name.hasPrefix("sync_") else { continue }
            let columns = try Row.fetchAll(
                db, sql: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [object.name])
            let wrong =
                columns.flatMap { column -> [String] in
                    let (name, type): (String, String) = (column[0], column[1])
                    // Those of fields have what the upstream says.
                    guard !isOfRecords || Self.ownColumns.contains(name) else { return [] }
                    let isJSON = StoredJSON.columns(of: object.name).contains(name)
                    let quoted = name.quoted(by: "\"")
                    let values = Self.wrong(quoted, type: isJSON ? "JSON" : type)
                    return [values, StoredName.isIn(name) ? StoredName.wrong(quoted) : nil].compactMap(\.self)
                } + (isOfRecords ? Self.wrongInRecords(columns.map { $0[0] }) : [])
                + (object.name == "sync_hook" ? [Self.beyondLog("position")] : [])
            guard !wrong.isEmpty else { continue }
            let sql = "SELECT 1 FROM \(object.name.quoted(by: "\"")) WHERE \(wrong.joined(separator: " OR "))"
            if try Bool.fetchOne(db, sql: "SELECT EXISTS (\(sql))") == true {
                throw refusal("a value in the table \(object.name) that no backup has")
            }
        }
        try requireSequences()
    }

    /// After the greatest number, SQLite refuses each new row as if the disk were full. Its own table is in no migration.
    private func requireSequences() throws {
        let table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')"
        guard try Bool.fetchOne(db, sql: table) == true, let wrong = Self.wrong("seq", type: "INTEGER") else { return }
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_sequence WHERE \(wrong))") == true else {
            return
        }
        throw refusal("a value in the table sqlite_sequence that no backup has")
    }

    /// The same for the numbers that settings have as text, one or two at the beginning.
    func requireSettings() throws {
        guard try db.tableExists("sync_setting") else { return }
        // What restoring and rescuing holds in memory.
        let most = SettingTable.most
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT 1 FROM sync_setting LIMIT \(most + 1))")
        guard let count, count <= most else { throw refusal("more than \(most) settings") }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, value FROM sync_setting WHERE name IS NOT NULL AND value IS NOT NULL")
        for row in rows {
            let (name, value): (String, String) = (row[0], row[1])
            guard Self.numbers.contains(where: name.hasPrefix) else { continue }
            for part in value.split(separator: " ").prefix(2)
            where part.allSatisfy({ $0.isNumber || "+-".contains($0) }) {
                let limit = try name == "log_floor" ? logEnd() : Self.greatest
                guard let number = Int64(part), number >= -Self.greatest, number <= limit else {
                    throw refusal("a number in the setting \(name.start(scalars: 100)) that no backup has")
                }
            }
        }
    }

    /// How the names of such settings begin.
    private static let numbers = [
        "clock_offset_ms", "log_floor", "references:", "references-problem:", "round:", "window-time:",
    ]
    private static let greatest: Int64 = 1 << 53

    private static let ownColumns = Set(EntityTable.ownColumns.map(\.key))

    /// The lists of sealed places say how to read every record and change of their entities.
    func requireSealedPlaces() throws {
        guard try db.tableExists("sync_setting") else { return }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, value FROM sync_setting WHERE name IS NOT NULL AND value IS NOT NULL")
        let settings = Dictionary(rows.map { ($0[0] as String, $0[1] as String) }) { $1 }
        guard SealedPlaces.areReadable(in: settings) else {
            throw refusal("a list of sealed fields that cannot be read")
        }
    }

    /// The same for columns of records with few values. The search index, which SQLite builds by these, would count as damaged.
    private static func wrongInRecords(_ columns: [String]) -> [String] {
        let objects = ["_remote", "_local", "_document"].map { ($0, "ltrim(\($0), char(32, 9, 10, 13)) NOT GLOB '{*'") }
        let numbers = [("_deleted", "_deleted NOT IN (0, 1)"), ("_acknowledged", beyondLog("_acknowledged"))]
        return (objects + numbers).filter { columns.contains($0.0) }.map(\.1)
    }

    /// True for a position that the change log has not reached. Until it has, a hook would get no event, watchers be told that
    /// they have missed some, and a record follow nothing that the upstream says.
    private static func beyondLog(_ position: String) -> String { "\(position) > \(logEnd)" }
    private static let logEnd = "coalesce((SELECT max(seq) FROM sync_change_log), 0)"

    private func logEnd() throws -> Int64 { try Int64.fetchOne(db, sql: "SELECT \(Self.logEnd)") ?? 0 }

    /// True for values that the daemon never writes to a column of this type; nil if it can have any.
    private static func wrong(_ column: String, type: String) -> String? {
        switch type {
        case "INTEGER":
            return """
                \(column) IS NOT NULL
                  AND (typeof(\(column)) <> 'integer' OR \(column) NOT BETWEEN -\(greatest) AND \(greatest))
                """
        case "TEXT": return "\(column) IS NOT NULL AND typeof(\(column)) <> 'text'"
        case "JSON":
            return StoredJSON.wrong(column)
                + " OR \(column) IS NOT NULL AND NOT is_comparable(CAST(\(column) AS BLOB))"
        default: return nil
        }
    }
}
