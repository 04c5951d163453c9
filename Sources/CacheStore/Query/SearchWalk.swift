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
    let ranges: [BoundSQL]
    /// See `ListStatement.selection`.
    let selection: String

    // All for each record of the page.
    /// Up to this many matches are sorted without a walk.
    private static let fewMatches = 4
    /// The size of the first part, and of all parts together, in index entries.
    private static let firstEntries = 8
    private static let mostEntries = 128

    /// The `_pk`s of a page and one more, in the list's order; nil if a walk does not find them soon. Call it in a
    /// snapshot.
    func found(limit: Int, _ connection: ReadConnection) throws -> [Int64]? {
        var match = match
        match.query = try SearchCompletion(table: match.table, connection: connection).completed(match.query)
        let matches = SearchMatches(match: match, connection: connection)
        guard try matches.areMore(than: Self.fewMatches * (limit + 1)) else { return nil }
        let count = limit + 1
        return try connection.walk(entries(atMost: Self.mostEntries * count)) { rows in
            try found(count, of: matches, in: &rows)
        }
    }

    /// The first `count` matches among `entries`, or all if there are fewer; nil if that would take too long.
    private func found(_ count: Int, of matches: SearchMatches, in entries: inout WalkedRows) throws -> [Int64]? {
        var found: [Int64] = []
        var (walked, end) = (0, Self.firstEntries * count)
        while true {
            let part = try entries.next(end - walked)
            found += try matches.among(part)
            guard found.count < count else { return Array(found.prefix(count)) }
            // Only after the last entry is a part incomplete: then these are all matches.
            guard part.count == end - walked else { return found }
            walked = end
            guard let next = Self.end(after: walked, found: found.count, of: count) else { return nil }
            end = next
        }
    }

    /// How far to walk if the matches go on as they began, or four times as far; nil if that would not be enough.
    private static func end(after walked: Int, found: Int, of count: Int) -> Int? {
        let most = mostEntries * count
        guard walked < most, found == 0 || walked * count / found < 2 * most else { return nil }
        let likely = found == 0 ? most : walked * count / found
        return min(max(likely + likely / 32, walked + count), 4 * walked, most)
    }

    /// The index in the list's order, as a query for `_pk`s: of each range no more than a walk may read.
    func entries(atMost count: Int) -> BoundSQL {
        let parts = ranges.map { range in
            let condition = range.sql.isEmpty ? "" : " AND \(range.sql)"
            return "SELECT _pk FROM \(table.name) WHERE _deleted = 0\(condition) ORDER BY \(order.sql) LIMIT ?"
        }
        let sql = parts.count == 1 ? parts[0] : parts.map { "SELECT * FROM (\($0))" }.joined(separator: " UNION ALL ")
        return (sql, ranges.flatMap { $0.arguments + [count.databaseValue] })
    }

    /// One record by its `_pk`.
    var record: String { "\(selection)_pk = ?" }
}
