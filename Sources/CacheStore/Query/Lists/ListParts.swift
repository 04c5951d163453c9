internal import GRDB
internal import SQLiteStore

/// The statements of a list from a cursor on, or from its start. Each is made when it is asked for: most pages need the first
/// alone.
///
/// A list consists of parts that an index can each seek and return in order: the ranges after the cursor
/// (`ListOrder.ranges`), and the values of a filter that accepts several. So the thousandth page costs as much as the
/// first. If the index of the filter gives another order, the rows are found first and then sorted.
struct ListParts: RandomAccessCollection, Sendable {
    let startIndex = 0
    /// 0 after a position that nothing follows, which only a made-up cursor has.
    let endIndex: Int
    private let filter: ListFilter
    private let order: ListOrder
    /// See `ListStatement.selection`.
    private let selection: String
    private let limit: DatabaseValue
    let ranges: [Keyset.Range]
    /// The first statement. Made once, because making it takes as long as reading five records.
    private var first: ReadConnection.Statement?

    /// `filter` is not arranged yet. `name`: that of the list, which its cursors have. Throws for a cursor of another list.
    init(
        _ filter: ListFilter, _ order: ListOrder, _ selection: String, limit: Int, from cursor: String?,
        of name: [UInt8]
    ) throws(CacheError) {
        var arranged = filter
        arranged.arrange(for: order, hasCursor: cursor != nil)
        self.filter = arranged
        self.order = order
        self.selection = selection
        self.limit = (limit + 1).databaseValue
        if let cursor {
            ranges = order.ranges(
                after: try ListCursor.position(cursor, list: name, columns: order.terms.count + 1))
        } else {
            ranges = [(condition: "", arguments: [])]
        }
        let all = arranged.alternatives.count * ranges.count
        endIndex = arranged.isMerged && all > 1 ? 1 : all
        if endIndex > 0 { first = statement(0) }
    }

    subscript(_ place: Int) -> ReadConnection.Statement {
        if place == 0, let first { return first }
        return statement(place)
    }

    /// That of one part, or of all where they are merged.
    private func statement(_ place: Int) -> ReadConnection.Statement {
        let all = filter.alternatives.count * ranges.count
        guard filter.isMerged, all > 1 else { return part(place) }
        let parts = (0..<all).map(part)
        let union = parts.map { "SELECT * FROM (\($0.sql))" }.joined(separator: " UNION ALL ")
        return ("\(union) ORDER BY \(order.sqlByPosition) LIMIT ?", parts.flatMap(\.arguments) + [limit])
    }

    private func part(_ place: Int) -> ReadConnection.Statement {
        let (alternative, range) = (filter.alternatives[place / ranges.count], ranges[place % ranges.count])
        var whole = filter.condition
        for part in [alternative.condition, range.condition] where !part.isEmpty { whole += " AND \(part)" }
        let limits = filter.isSearchedFirst ? [limit, limit] : [limit]
        return (select(whole), filter.arguments + alternative.arguments + range.arguments + limits)
    }

    private func select(_ condition: String) -> String {
        guard filter.isSearchedFirst else {
            // Appended, because an interpolation would copy the selection several times.
            var sql = selection
            sql += condition
            sql += " ORDER BY "
            sql += order.sql
            sql += " LIMIT ?"
            return sql
        }
        let unary = order.unarySQL
        // Only the records of the page are read; the index may be enough to find and sort the rest.
        return """
            \(selection)_pk IN (
              SELECT _pk FROM \(filter.table.name) WHERE \(condition) ORDER BY \(unary) LIMIT ?)
            ORDER BY \(unary) LIMIT ?
            """
    }
}
