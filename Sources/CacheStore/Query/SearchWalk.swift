internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Finds a page of a search by walking through the records in the list's order and checking which of them match.
///
/// Sorting the matches would read each of them. If there are many, a small part of the index has a page of them. Of the
/// search, only the range of that part's `_pk`s is read: records mostly arrive in the order in which they are listed,
/// so the range is small, and the page costs the same in a table of any size. If the first parts have too few matches,
/// the matches are sorted.
struct SearchWalk {
    let table: EntityTable
    let match: SearchMatch
    let order: ListOrder
    /// The ranges after the cursor; one without a condition if there is no cursor.
    let ranges: [(condition: String, arguments: [DatabaseValue])]
    /// The columns to read of each record.
    let columns: String

    /// All per record of the page: up to so many matches are sorted without a walk.
    private static let fewMatches = 4
    /// The size of the first part, and of all parts together, in index entries.
    private static let firstEntries = 8
    private static let mostEntries = 128

    /// The page that `read` makes of a statement in this snapshot; nil if the walk does not find it.
    func page(
        limit: Int, _ connection: ReadConnection, _ read: (ReadConnection.Statement) throws -> ListPage
    ) throws -> ListPage? {
        var match = match
        match.query = try SearchCompletion(table: match.table, connection: connection).completed(match.query)
        let matches = SearchMatches(match: match, connection: connection)
        guard try matches.areMore(than: Self.fewMatches * (limit + 1)) else { return nil }
        return try found(limit + 1, of: matches, connection).map { try read(statement(for: $0)) }
    }

    /// The `_pk`s of the first `count` matches in the list's order, or of all if there are fewer; nil if that would
    /// take too long.
    private func found(_ count: Int, of matches: SearchMatches, _ connection: ReadConnection) throws -> [Int64]? {
        var found: [Int64] = []
        var part: [Int64] = []
        var (walked, end) = (0, Self.firstEntries * count)
        var (isEnough, failure) = (false, (any Error)?.none)
        let entries = entries(atMost: Self.mostEntries * count)
        try connection.query(entries.sql, entries.arguments) { row in
            part.append(sqlite3_column_int64(row, 0))
            guard walked + part.count == end else { return true }
            do {
                found += try matches.among(part)
                walked = end
                part.removeAll(keepingCapacity: true)
                isEnough = found.count >= count
                guard !isEnough, let next = Self.end(after: walked, found: found.count, of: count) else { return false }
                end = next
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        // Only after the last entry is a part incomplete, or none: then these are all matches.
        let isLast = walked < end
        if isLast { found += try matches.among(part) }
        return isEnough || isLast ? Array(found.prefix(count)) : nil
    }

    /// How far to walk if the matches go on as they began, or four times as far; nil if that would not be enough.
    private static func end(after walked: Int, found: Int, of count: Int) -> Int? {
        let most = mostEntries * count
        guard walked < most, found == 0 || walked * count / found < 2 * most else { return nil }
        let likely = found == 0 ? most : walked * count / found
        return min(max(likely + likely / 32, walked + count), 4 * walked, most)
    }

    /// The index in the list's order, as a query for `_pk`s: of each range no more than a walk may read.
    func entries(atMost count: Int) -> ReadConnection.Statement {
        let parts = ranges.map { range in
            let condition = range.condition.isEmpty ? "" : " AND \(range.condition)"
            return """
                SELECT * FROM (
                  SELECT _pk FROM \(table.name) WHERE _deleted = 0\(condition) ORDER BY \(order.sql()) LIMIT ?)
                """
        }
        return (parts.joined(separator: " UNION ALL "), ranges.flatMap { $0.arguments + [count.databaseValue] })
    }

    /// Reads the records in the order of the walk.
    private func statement(for pks: [Int64]) -> ReadConnection.Statement {
        let sql = """
            SELECT \(columns) FROM (SELECT key AS _place, value AS _found FROM json_each(?))
            CROSS JOIN \(table.name) ON _pk = _found ORDER BY _place
            """
        return (sql, ["[\(pks.map(String.init).joined(separator: ","))]".databaseValue])
    }
}
