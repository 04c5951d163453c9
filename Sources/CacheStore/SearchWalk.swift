internal import EntitySchema
internal import GRDB
internal import GRDBSQLite

/// Finds a page of a search by going through the records in the list's order and looking whether each matches.
///
/// Sorting what matches reads each of those records. Where there are many, a page's worth of them is met after a small
/// part of the index, unless they all stand at its end; so it is gone through only as far as sorting would have cost, and
/// what was not found by then is found the other way.
struct SearchWalk {
    let table: EntityTable
    let match: SearchMatch
    let order: ListOrder
    /// What lies after the cursor; one without a condition where there is none.
    let ranges: [(condition: String, arguments: [DatabaseValue])]
    /// What is read of each record.
    let columns: String

    /// So many are counted: more make no difference.
    private static let mostCounted = 5000
    /// So many entries of the index cost about as much as reading one record to sort it.
    private static let entriesPerRecord = 8

    /// Nil where the page is hardly to be met within what sorting would cost. The page is complete if it has more records
    /// than `limit`.
    func statement(limit: Int, _ connection: ReadConnection) throws -> ReadConnection.Statement? {
        let found = try number(of: match.matches(limit: Self.mostCounted), connection)
        let all = try number(of: ("SELECT count FROM sync_tally WHERE name = ?", [name]), connection)
        let budget = found * Self.entriesPerRecord
        guard found > limit, (limit + 1) * all / found <= budget / 2 else { return nil }
        return statement(limit: limit, budget: budget)
    }

    private var name: DatabaseValue { "rows:\(table.entity.name)".databaseValue }

    private func number(of statement: ReadConnection.Statement, _ connection: ReadConnection) throws -> Int {
        var number = 0
        try connection.query(statement.sql, statement.arguments) { row in
            number = Int(sqlite3_column_int64(row, 0))
            return false
        }
        return number
    }

    /// SQLite makes the walk a co-routine of the look-up, so that it ends with it.
    func statement(limit: Int, budget: Int) -> ReadConnection.Statement {
        let walks = ranges.map { range in
            let condition = range.condition.isEmpty ? "" : " AND \(range.condition)"
            return """
                SELECT * FROM (
                  SELECT _pk FROM \(table.name) WHERE _deleted = 0\(condition) ORDER BY \(order.sql()) LIMIT ?)
                """
        }
        let condition = match.condition
        let sql = """
            SELECT \(columns) FROM \(table.name) WHERE _pk IN (
              SELECT _pk FROM (\(walks.joined(separator: " UNION ALL ")) LIMIT ?) WHERE \(condition.sql) LIMIT ?)
            ORDER BY \(order.sql(unary: true))
            """
        let most = [budget.databaseValue]
        let ends = most + condition.arguments + [(limit + 1).databaseValue]
        return (sql, ranges.flatMap { $0.arguments + most } + ends)
    }
}
