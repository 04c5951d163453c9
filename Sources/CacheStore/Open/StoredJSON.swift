internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The columns of JSON whose reader takes anything else for damage of the whole file.
enum StoredJSON {
    private static let columns: [String: Set<String>] = [
        "records": ["_remote", "_local", "_document", "_derived"], "sync_answer": ["answer"],
        "sync_change_log": ["keys", "fields", "detail"], "sync_conflict": ["base", "local", "server"],
        "sync_cursor": ["pull"], "sync_outbox": ["body", "base", "edited", "sent"], "sync_settling": ["fields"],
        "sync_view": ["members"],
    ]

    /// Those of a table; the names of records' tables begin with `records_`.
    static func columns(of table: String) -> Set<String> {
        columns[table.hasPrefix(EntityTable.prefix) ? "records" : table] ?? []
    }

    /// True for a value that is neither NULL nor JSON; needs `isValid`.
    static func wrong(_ column: String) -> String {
        """
        \(column) IS NOT NULL AND (typeof(\(column)) <> 'text' OR NOT is_json(CAST(\(column) AS BLOB)))
        """
    }

    /// The SQL function `is_json(bytes)`: whether the daemon can read it. `json_valid` accepts deeper nesting.
    static let isValid = DatabaseFunction("is_json", argumentCount: 1, pure: true) { values in
        guard let value = values.first, let bytes = Data.fromDatabaseValue(value) else { return false }
        return (try? JSONText(Array(bytes))) != nil
    }

    /// The SQL function `is_comparable(bytes)`: false for texts that would take minutes to compare (`MarkRun`).
    static let isComparable = DatabaseFunction("is_comparable", argumentCount: 1, pure: true) { values in
        guard let value = values.first, let bytes = Data.fromDatabaseValue(value) else { return false }
        return MarkRun.areShort(inJSON: Array(bytes)[...], upTo: MarkRun.longestStored)
    }

    /// The first table of a database with such a value, which only damage or another program leaves; nil if there is none. Only
    /// reads the file.
    static func damagedTable(ofDatabaseAt path: String) throws -> String? {
        try DatabaseFile.openReadOnly(path).read { db in
            db.add(function: isValid)
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            return try tables.first { table in
                let own = columns(of: table)
                guard !own.isEmpty else { return false }
                let present = try db.columns(in: table).map(\.name).filter(own.contains)
                guard !present.isEmpty else { return false }
                let conditions = present.map { wrong($0.quoted(by: "\"")) }.joined(separator: " OR ")
                let sql = "SELECT EXISTS (SELECT 1 FROM \(table.quoted(by: "\"")) WHERE \(conditions))"
                return try Bool.fetchOne(db, sql: sql) == true
            }
        }
    }
}
