internal import GRDB

/// Checks one table and its indexes for damage, like `PRAGMA integrity_check`, in less than half the time.
///
/// `integrity_check` looks up every row in every index. This reads the table and each index once, and compares sums
/// over their entries. Only entries in a wrong order, none of them missing or changed, go unnoticed.
package struct TableCheck {
    private struct Index {
        let name: String
        /// In the order of its columns; nil for one that is no column, but an expression.
        var columns: [String]? = []
        /// What a row of a partial index must meet.
        var condition: String?
        /// True for the primary key of a table without row ids, which is the table.
        var isTable: Bool
    }

    private let connection: ReadConnection

    package init(_ connection: ReadConnection) throws {
        self.connection = connection
        try connection.addEntrySum()
    }

    /// What is wrong with the table; nil if nothing is. Throws SQLite's error when it cannot even be read.
    package func problem(of table: String) throws -> String? {
        if let problem = try answer("quick_check", table) { return problem }
        let indexes = try indexes(of: table)
        guard let difference = try difference(table, indexes) else { return try answer("integrity_check", table) }
        return difference.map { "rows are missing from index \($0), or differ there" }
    }

    private func answer(_ pragma: String, _ table: String) throws -> String? {
        let sql = "PRAGMA \(pragma)(\(table.quoted(by: "\"")))"
        let answer = try connection.first(sql) { BoundStatement($0).text(0) } ?? nil
        return answer == "ok" ? nil : answer ?? "no answer"
    }

    // MARK: Sums

    /// The first index with other entries than the table, inside nil for none. Nil if that cannot be compared.
    private func difference(_ table: String, _ indexes: [Index]) throws -> String?? {
        guard !indexes.isEmpty else { return .some(nil) }
        let name = table.quoted(by: "\"")
        var wanted: [String] = []
        for index in indexes {
            guard let columns = index.columns else { return nil }
            let filter = index.condition.map { " FILTER (WHERE \($0))" } ?? ""
            wanted.append("entry_sum(\(columns.joined(separator: ", ")))\(filter)")
        }
        let sums = try sums("SELECT \(wanted.joined(separator: ", ")) FROM \(name) NOT INDEXED", indexes.count)
        for (index, sum) in zip(indexes, sums) {
            let columns = index.columns?.joined(separator: ", ") ?? ""
            let filter = index.condition.map { " WHERE \($0)" } ?? ""
            let source = "\(name) INDEXED BY \(index.name.quoted(by: "\""))"
            guard try self.sums("SELECT entry_sum(\(columns)) FROM \(source)\(filter)", 1) == [sum] else {
                return index.name
            }
        }
        return .some(nil)
    }

    private func sums(_ sql: String, _ count: Int) throws -> [Int64] {
        try connection.first(sql) { row in (0..<Int32(count)).map { BoundStatement(row).integer($0) ?? 0 } } ?? []
    }

    // MARK: Indexes

    private static let listing = """
        SELECT list.name, part.name, part.cid, list.origin, list.partial,
          (SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = list.name)
        FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS part
        ORDER BY list.seq, part.seqno
        """

    private func indexes(of table: String) throws -> [Index] {
        var indexes: [Index] = []
        try connection.query(Self.listing, [table.databaseValue]) { row in
            let row = BoundStatement(row)
            let name = row.text(0) ?? ""
            if indexes.last?.name != name {
                indexes.append(Index(name: name, isTable: row.text(3) == "pk"))
                if row.integer(4) == 1 {
                    indexes[indexes.count - 1].condition = Self.condition(row.text(5) ?? "")
                    // A definition that this does not understand.
                    if indexes[indexes.count - 1].condition == nil { indexes[indexes.count - 1].columns = nil }
                }
            }
            switch row.integer(2) {
            case -1:
                indexes[indexes.count - 1].columns?.append("rowid")
                indexes[indexes.count - 1].isTable = false
            case -2: indexes[indexes.count - 1].columns = nil
            default: indexes[indexes.count - 1].columns?.append((row.text(1) ?? "").quoted(by: "\""))
            }
            return true
        }
        return indexes.filter { !$0.isTable }
    }

    /// What follows the word `WHERE` of a definition; nil if that is not sure. The name of an index can have any words.
    private static func condition(_ definition: String) -> String? {
        guard let outermost = definition.outermost else { return nil }
        let words = outermost.split { $0 <= UInt8(ascii: " ") }
        let first = words.first { String(decoding: $0, as: UTF8.self).uppercased() == "WHERE" }
        return first.map { String(decoding: Array(definition.utf8)[$0.endIndex...], as: UTF8.self) }
    }
}
