internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// Finds a page of a search by walking through the records in the list's order and checking which of them match.
///
/// Sorting the matches would read each of them. If there are many, a small part of the index has a page of them. The
/// search is limited to that part's range of `_pk`s: records mostly arrive in the order in which they are listed, so
/// the range is small. If a part has too few matches for a page, their share shows whether a larger part is worth a
/// try; if not, the matches are sorted.
struct SearchWalk {
    let table: EntityTable
    let match: SearchMatch
    let order: ListOrder
    /// The ranges after the cursor; one without a condition if there is no cursor.
    let ranges: [(condition: String, arguments: [DatabaseValue])]
    /// The columns to read of each record.
    let columns: String

    /// The size of the first part, in index entries for each record of the page. Walking through them costs about as
    /// much as asking FTS5 at all.
    private static let entriesPerRecord = 32
    /// How many times larger the second and last part is.
    private static let growth = 4

    /// The page that `read` makes of a statement in this snapshot; nil if the walk does not find a full page.
    func page(
        limit: Int, _ connection: ReadConnection, _ read: (ReadConnection.Statement) throws -> ListPage
    ) throws -> ListPage? {
        let first = Self.entriesPerRecord * (limit + 1)
        for depth in [first, first * Self.growth] {
            guard let span = try span(of: depth, connection) else { return nil }
            let page = try read(statement(limit: limit, depth: depth, within: span))
            if page.next != nil { return page }
            guard page.count * Self.growth > limit else { return nil }
        }
        return nil
    }

    // MARK: Parts of the index

    /// The first entries of the index, as a query for their `_pk`s.
    private func entries(_ depth: Int) -> ReadConnection.Statement {
        let parts = ranges.map { range in
            let condition = range.condition.isEmpty ? "" : " AND \(range.condition)"
            return """
                SELECT * FROM (
                  SELECT _pk FROM \(table.name) WHERE _deleted = 0\(condition) ORDER BY \(order.sql()) LIMIT ?)
                """
        }
        let most = [depth.databaseValue]
        return ("\(parts.joined(separator: " UNION ALL ")) LIMIT ?", ranges.flatMap { $0.arguments + most } + most)
    }

    /// The range of `_pk`s; nil if there are no entries.
    private func span(of depth: Int, _ connection: ReadConnection) throws -> ClosedRange<Int64>? {
        let entries = entries(depth)
        let ends = try numbers(of: ("SELECT min(_pk), max(_pk) FROM (\(entries.sql))", entries.arguments), connection)
        return ends.count == 2 ? ends[0]...ends[1] : nil
    }

    /// SQLite runs the entries as a co-routine of the lookup, so both stop together.
    func statement(limit: Int, depth: Int, within span: ClosedRange<Int64>) -> ReadConnection.Statement {
        let (entries, condition) = (entries(depth), match.condition(within: span))
        let sql = """
            SELECT \(columns) FROM \(table.name) WHERE _pk IN (
              SELECT _pk FROM (\(entries.sql)) WHERE \(condition.sql) LIMIT ?)
            ORDER BY \(order.sql(unary: true))
            """
        return (sql, entries.arguments + condition.arguments + [(limit + 1).databaseValue])
    }

    /// The numbers in the statement's one row, without NULLs.
    private func numbers(of statement: ReadConnection.Statement, _ connection: ReadConnection) throws -> [Int64] {
        var numbers: [Int64] = []
        try connection.query(statement.sql, statement.arguments) { row in
            for column in 0..<sqlite3_column_count(row) where sqlite3_column_type(row, column) != SQLITE_NULL {
                numbers.append(sqlite3_column_int64(row, column))
            }
            return false
        }
        return numbers
    }
}
