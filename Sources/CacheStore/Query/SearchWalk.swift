internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// Finds a page of a search by going through the records in the list's order and looking which of them match.
///
/// Sorting what matches reads each of those records. Where there are many, a page's worth of them is met after a small
/// part of the index. Of the matches only those are asked for that lie in that part's span of `_pk`: records mostly come in
/// the order in which they are listed, so that these are few. A part that has too few for a page tells by its share
/// whether a larger one is worth a look; where none is, what matches is sorted.
struct SearchWalk {
    let table: EntityTable
    let match: SearchMatch
    let order: ListOrder
    /// What lies after the cursor; one without a condition where there is none.
    let ranges: [(condition: String, arguments: [DatabaseValue])]
    /// What is read of each record.
    let columns: String

    /// The size of the first part: entries of the index for each record of the page. To go through them costs about as
    /// much as to ask FTS5 at all.
    private static let entriesPerRecord = 32
    /// How many times larger the second part is, the last.
    private static let growth = 4

    /// The page that `read` makes of a statement, in one snapshot with this; nil where it is not met.
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

    /// Nil where there are none.
    private func span(of depth: Int, _ connection: ReadConnection) throws -> ClosedRange<Int64>? {
        let entries = entries(depth)
        let ends = try numbers(of: ("SELECT min(_pk), max(_pk) FROM (\(entries.sql))", entries.arguments), connection)
        return ends.count == 2 ? ends[0]...ends[1] : nil
    }

    /// SQLite makes the entries a co-routine of the look-up, so that they end with it.
    func statement(limit: Int, depth: Int, within span: ClosedRange<Int64>) -> ReadConnection.Statement {
        let (entries, condition) = (entries(depth), match.condition(within: span))
        let sql = """
            SELECT \(columns) FROM \(table.name) WHERE _pk IN (
              SELECT _pk FROM (\(entries.sql)) WHERE \(condition.sql) LIMIT ?)
            ORDER BY \(order.sql(unary: true))
            """
        return (sql, entries.arguments + condition.arguments + [(limit + 1).databaseValue])
    }

    /// The numbers of the one row that a statement gives, without those that are NULL.
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
