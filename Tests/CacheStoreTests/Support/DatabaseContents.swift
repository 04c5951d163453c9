import GRDB

/// Everything in a database, except for the tables that SQLite manages itself: two databases with the same contents
/// give the same answers.
struct DatabaseContents {
    /// Table → rows.
    private let rows: [String: [Row]]
    /// The statements that created tables, indexes and views.
    private let structure: Set<String>

    init(of reader: some DatabaseReader) throws {
        (rows, structure) = try reader.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
            let rows = try tables.map { table in
                // The file, not its contents, decides these settings.
                let rest = table == "sync_setting" ? "WHERE name NOT IN ('epoch', 'epoch_inode')" : ""
                return (table, try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\" \(rest)"))
            }
            let structure = try String.fetchSet(
                db, sql: "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema")
            return (Dictionary(uniqueKeysWithValues: rows), structure)
        }
    }

    /// What differs, in words; empty if nothing does.
    func differences(from other: DatabaseContents) -> [String] {
        var found = structure.symmetricDifference(other.structure).sorted()
        for table in Set(rows.keys).union(other.rows.keys).sorted() {
            let (own, others) = (rows[table] ?? [], other.rows[table] ?? [])
            if own.count != others.count { found.append("\(table): \(own.count) rows, not \(others.count)") }
            guard let pair = zip(own, others).first(where: { $0 != $1 }) else { continue }
            let values = zip(pair.0, pair.1).filter { $0 != $1 }.map { "\($0.0) is \($0.1), not \($1.1)" }
            found.append("\(table), \(pair.0.first?.1 ?? .null): \(values.joined(separator: "; "))")
        }
        return found
    }
}
