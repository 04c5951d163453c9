internal import GRDB
internal import SQLiteStore
internal import Synchronization

/// The statements of a list's first page, or of all its later pages whose positions have nulls in the same places:
/// those differ only in the bound values.
///
/// A list consists of parts that an index can each seek and return in order: the ranges after the position
/// (`Keyset.ranges`), and the values of a filter that accepts several. So the thousandth page costs as much as the
/// first. If the index of the filter gives another order, the rows are found first and then sorted.
final class ListForm: Sendable {
    /// The number of statements; 0 after a position that nothing follows, which only a forged cursor has.
    let count: Int
    /// The condition of each range, and how many leading values of the position are bound to it.
    private let ranges: [(sql: String, values: Int)]
    private let filter: ListFilter
    private let order: ListOrder
    /// See `ListStatement.selection`.
    private let selection: String
    private let limit: DatabaseValue
    /// What every row meets, with the values bound to it.
    private let condition: BoundSQL
    /// The text of each statement, made on demand: most pages need only the first, and making one takes as long as
    /// reading five records.
    private let texts: Mutex<[String?]>

    /// `filter` is not arranged yet. `position`: any position that the form is for; empty for the first page.
    init(
        _ filter: ListFilter, _ order: ListOrder, _ selection: String, limit: Int, after position: [DatabaseValue]
    ) {
        let arranged = filter.arranged(for: order, hasCursor: !position.isEmpty)
        self.filter = arranged
        self.order = order
        self.selection = selection
        self.limit = (limit + 1).databaseValue
        condition = arranged.condition
        ranges = position.isEmpty ? [(sql: "", values: 0)] : order.conditions(after: position)
        let all = arranged.alternatives.count * ranges.count
        count = arranged.isMerged && all > 1 ? 1 : all
        texts = Mutex(Array(repeating: nil, count: count))
    }

    /// One statement of the page after `position`, which is empty for the first page.
    func statement(_ place: Int, after position: [DatabaseValue]) -> BoundSQL {
        (sql(place), isMerged ? parts.flatMap { arguments($0, position) } + [limit] : arguments(place, position))
    }

    /// The ranges after a position; a single one without a condition if that is empty.
    func ranges(after position: [DatabaseValue]) -> [BoundSQL] {
        ranges.map { ($0.sql, Array(position.prefix($0.values))) }
    }

    private var parts: Range<Int> { 0..<(filter.alternatives.count * ranges.count) }

    private var isMerged: Bool { parts.count > count }

    private func sql(_ place: Int) -> String {
        if let text = texts.withLock({ $0[place] }) { return text }
        let text = isMerged ? merged : part(place)
        texts.withLock { $0[place] = text }
        return text
    }

    private var merged: String {
        let union = parts.map { "SELECT * FROM (\(part($0)))" }.joined(separator: " UNION ALL ")
        return "\(union) ORDER BY \(order.sqlByPosition) LIMIT ?"
    }

    private func part(_ place: Int) -> String {
        var whole = condition.sql
        for part in [filter.alternatives[place / ranges.count].sql, ranges[place % ranges.count].sql]
        where !part.isEmpty { whole += " AND \(part)" }
        return select(whole)
    }

    private func arguments(_ place: Int, _ position: [DatabaseValue]) -> [DatabaseValue] {
        var all = condition.arguments
        all += filter.alternatives[place / ranges.count].arguments
        all += position.prefix(ranges[place % ranges.count].values)
        if filter.isSearchedFirst { all.append(limit) }
        all.append(limit)
        return all
    }

    private func select(_ condition: String) -> String {
        guard filter.isSearchedFirst else { return "\(selection)\(condition) ORDER BY \(order.sql) LIMIT ?" }
        let unary = order.unarySQL
        // Only the records of the page are read; the index may be enough to find and sort the rest.
        return """
            \(selection)_pk IN (
              SELECT _pk FROM \(filter.table.name) WHERE \(condition) ORDER BY \(unary) LIMIT ?)
            ORDER BY \(unary) LIMIT ?
            """
    }
}
