internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// One list as SQL. Names come from the schema; values are always bound.
///
/// A list consists of parts that an index can each seek and return in order: the ranges after the cursor
/// (`ListOrder.ranges`), and the values of a filter that accepts several. So the thousandth page costs as much as the
/// first. If the index of the filter gives another order, the rows are found first and then sorted.
struct ListStatement {
    private let table: EntityTable
    private let query: ListQuery
    let order: ListOrder
    private let filter: ListFilter
    private let ranges: [Keyset.Range]
    private let all: Keyset.Range
    private let columns: String

    /// `columns`: those of the whole record, if the caller has them. `extraColumns` come after those of `RecordSelect`
    /// and the order's.
    init(
        table: EntityTable, query: ListQuery, context: FilterContext, columns: String? = nil,
        extraColumns: [String] = []
    ) throws(CacheError) {
        self.table = table
        self.query = query
        order = try ListOrder(query.sort, table)
        let whole = query.fields == nil ? columns : nil
        self.columns =
            (whole ?? RecordSelect(table: table, fields: query.fields).columns) + order.extraColumns
            + extraColumns.map { ", \($0)" }.joined()
        for name in query.fields ?? [] {
            guard let field = table.entity[field: name], !field.secret else {
                throw CacheError.badQuery(field: "fields", message: "\(table.entity.name) cannot show a field \(name)")
            }
        }
        var filter = ListFilter(table: table, context: context)
        for term in query.filters { try filter.add(term) }
        for condition in query.conditions { try filter.add(condition) }
        if let sync = query.sync { filter.add(sync) }
        if let search = query.search { try filter.add(search) }
        all = (filter.conditions.joined(separator: " AND "), filter.arguments)
        filter.arrange(for: order, hasCursor: query.cursor != nil)
        self.filter = filter
        if let cursor = query.cursor {
            let list = Self.name(query, order)
            ranges = order.ranges(
                after: try ListCursor.position(cursor, list: list, columns: order.terms.count + 1))
        } else {
            ranges = [(condition: "", arguments: [])]
        }
    }

    // MARK: Statements

    /// Run one after the other, they give the list from the cursor on, each at most one row more than a page. Read them
    /// in one snapshot, until the page is full.
    var statements: [ReadConnection.Statement] {
        let limit = (query.limit + 1).databaseValue
        let limits = filter.isSearchedFirst ? [limit, limit] : [limit]
        let parts = parts.map { (sql: "\(select($0.conditions)) LIMIT ?", arguments: $0.arguments + limits) }
        guard filter.isMerged, parts.count > 1 else { return parts }
        let union = parts.map { "SELECT * FROM (\($0.sql))" }.joined(separator: " UNION ALL ")
        return [("\(union) ORDER BY \(order.sqlByPosition) LIMIT ?", parts.flatMap(\.arguments) + [limit])]
    }

    var isOneStatement: Bool { filter.isMerged || filter.alternatives.count * ranges.count == 1 }

    var countSQL: String { "SELECT count(*) FROM \(table.name) WHERE \(all.condition)" }
    var countArguments: [DatabaseValue] { all.arguments }

    func cursor(after position: [DatabaseValue]) -> String {
        ListCursor.text(position, list: Self.name(query, order))
    }

    /// The fields without an index that make the query read a whole table; empty if it does not.
    var unindexed: [String] {
        let isSought = query.filters.contains { table.isIndexed($0.field) && $0.isSought } || filter.isSoughtByOthers
        var missing = filter.scanned
        if query.sync?.isSought != true && query.search == nil && !isSought {
            let asked = query.filters.map(\.field) + query.sort.prefix(1).map(\.field)
            missing += asked.filter { !table.isIndexed($0) } + filter.unindexed
        }
        return missing.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    // MARK: Walking

    /// Alternatively, a search can walk through the records in the list's order, by an index, until it has a page: if
    /// many records match, that takes a few steps. Nil if no index gives the order, or if there are other filters than
    /// words.
    var walk: SearchWalk? {
        guard let match = filter.match, filter.isByWordsAlone, let first = order.terms.first,
            first.field != table.entity.key, table.isIndexed(first.field)
        else { return nil }
        return SearchWalk(table: table, match: match, order: order, ranges: ranges, columns: columns)
    }

    // MARK: Parts

    private typealias Part = (conditions: [String], arguments: [DatabaseValue])

    private var parts: [Part] {
        filter.alternatives.flatMap { alternative in
            ranges.map { range in
                (
                    filter.conditions + [alternative.condition, range.condition].filter { !$0.isEmpty },
                    filter.arguments + alternative.arguments + range.arguments
                )
            }
        }
    }

    private func select(_ conditions: [String]) -> String {
        let conditions = conditions.joined(separator: " AND ")
        guard filter.isSearchedFirst else {
            return "SELECT \(columns) FROM \(table.name) WHERE \(conditions) ORDER BY \(order.sql())"
        }
        // Only the records of the page are read; the index may be enough to find and sort the rest.
        return """
            SELECT \(columns) FROM \(table.name) WHERE _pk IN (
              SELECT _pk FROM \(table.name) WHERE \(conditions) ORDER BY \(order.sql(unary: true)) LIMIT ?)
            ORDER BY \(order.sql(unary: true))
            """
    }

    /// What identifies a list: its filters and its order.
    private static func name(_ query: ListQuery, _ order: ListOrder) -> [UInt8] {
        // The number tells cursors apart whose positions have another form.
        var parts = ["2", query.entity, query.sync?.rawValue ?? ""]
        if let search = query.search { parts += ["q", search.text] }
        for filter in query.filters { parts += [filter.field, filter.comparison.rawValue] + filter.values }
        for condition in query.conditions { parts += ["where"] + condition.identity }
        for term in order.terms { parts += [term.field, term.descending ? "desc" : "asc"] }
        return ListCursor.name(of: parts)
    }
}
