internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore
internal import Synchronization

/// One list as SQL. Names come from the schema; values are always bound.
///
/// What is the same for all its pages is made once; only `position` and the form of its statements differ.
final class ListStatement: Sendable {
    private let table: EntityTable
    private let query: ListQuery
    let order: ListOrder
    /// See `ListCursor.mark`.
    private let mark: [UInt8]
    /// The filter before it was arranged.
    private let all: ListFilter
    /// `SELECT` with its columns, up to the condition.
    private let selection: String
    /// The fields without an index that make the query read a whole table; empty if it does not.
    let unindexed: [String]
    let form: ListForm
    /// The cursor's; empty without a cursor.
    private let position: [DatabaseValue]
    /// The form of pages after positions without nulls, which are nearly all; nil until the first is read.
    private let laterForm = Mutex<ListForm?>(nil)

    /// `common`: what the caller has of it. `extraColumns` come after those of `RecordSelect` and the order's.
    init(
        table: EntityTable, query: ListQuery, context: FilterContext, common: Common? = nil,
        extraColumns: [String] = []
    ) throws(CacheError) {
        self.table = table
        self.query = query
        if let common, common.isOrdered(by: query.sort) {
            order = common.order
        } else {
            order = try ListOrder(query.sort, table)
        }
        selection = Self.selection(table, query, order, common, extraColumns)
        for name in query.fields ?? [] {
            guard let field = table.entity[field: name], !field.secret else {
                throw Self.unknown(name, table.entity)
            }
        }
        all = try ListFilter(query, table, context)
        unindexed = all.unindexed(sortedBy: query.sort)
        mark = Self.mark(query, order)
        position =
            try query.cursor.map { [mark, order] (cursor) throws(CacheError) in
                try ListCursor.position(cursor, mark: mark, columns: order.terms.count + 1)
            } ?? []
        form = ListForm(all, order, selection, limit: query.limit, after: position)
    }

    /// The same list from another cursor on.
    init(_ list: ListStatement, from cursor: String) throws(CacheError) {
        table = list.table
        query = list.query
        order = list.order
        mark = list.mark
        all = list.all
        unindexed = list.unindexed
        selection = list.selection
        position = try ListCursor.position(cursor, mark: mark, columns: order.terms.count + 1)
        form = list.form(after: position)
    }

    private func form(after position: [DatabaseValue]) -> ListForm {
        let isUsual = !position.contains(where: \.isNull)
        if isUsual, let known = laterForm.withLock(\.self) { return known }
        let form = ListForm(all, order, selection, limit: query.limit, after: position)
        if isUsual { laterForm.withLock { $0 = form } }
        return form
    }

    private static func unknown(_ field: String, _ entity: Entity) -> CacheError {
        let hint = Suggestion.hint(for: field, among: entity.fields.filter { !$0.secret }.map(\.name))
        return .badQuery(field: "fields", message: "\(entity.name) cannot show a field \(field.prefix(100))\(hint)")
    }

    private static func selection(
        _ table: EntityTable, _ query: ListQuery, _ order: ListOrder, _ common: Common?, _ extraColumns: [String]
    ) -> String {
        let whole = query.fields == nil ? common : nil
        if let whole, whole.order === order, extraColumns.isEmpty { return whole.selection }
        let columns = whole?.columns ?? RecordSelect(table: table, fields: query.fields).columns
        let extra = extraColumns.map { ", \($0)" }.joined()
        return "SELECT \(columns)\(order.extraColumns)\(extra) FROM \(table.name) WHERE "
    }

    // MARK: Statements

    var isOneStatement: Bool { form.count == 1 }

    /// One of the statements that, run one after the other, give the list from the cursor on, each at most one row more than a
    /// page.
    func statement(_ place: Int) -> BoundSQL { form.statement(place, after: position) }

    /// Reads the list until `row` returns false, by a walk if that finds the page soon. Call it in a snapshot, unless it is one
    /// statement.
    func read(_ connection: ReadConnection, by walk: SearchWalk? = nil, row: (OpaquePointer) -> Bool) throws {
        if let walk, let found = try walk.found(limit: query.limit, connection) {
            return try connection.query(walk.record, forEach: found, row: row)
        }
        var goesOn = true
        for place in 0..<form.count where goesOn {
            let statement = statement(place)
            try connection.query(statement.sql, statement.arguments) {
                goesOn = row($0)
                return goesOn
            }
        }
    }

    var count: BoundSQL {
        let condition = all.condition
        return ("SELECT count(*) FROM \(table.name) WHERE \(condition.sql)", condition.arguments)
    }

    /// A value too long for a cursor is shortened; the rows with other values of the same beginning are then skipped.
    func cursor(after position: [DatabaseValue]) -> String {
        let cursor = ListCursor.text(position, mark: mark)
        guard cursor.utf8.count > ListCursor.longest else { return cursor }
        return ListCursor.text(order.shortened(position), mark: mark)
    }

    /// Whether it goes through values, which takes SQLite long, and few instructions.
    var readsWholeValues: Bool { all.readsWholeValues }

    // MARK: Walking

    /// Alternatively, a search can walk through the records in the list's order, by an index, until it has a page: if
    /// many records match, that takes a few steps. Nil if no index gives the order, or if there are other filters than
    /// words.
    var walk: SearchWalk? {
        guard let match = all.match, all.isByWordsAlone, let first = order.terms.first,
            first.field != table.entity.key, table.isIndexed(first.field)
        else { return nil }
        return SearchWalk(
            table: table, match: match, order: order, ranges: form.ranges(after: position), selection: selection)
    }

    /// The mark of a list with these filters in this order.
    private static func mark(_ query: ListQuery, _ order: ListOrder) -> [UInt8] {
        // The number distinguishes cursors of other forms.
        var parts: [String] = []
        parts.reserveCapacity(16)
        parts += ["3", query.entity, query.sync?.rawValue ?? ""]
        if let search = query.search { parts += ["q", search.text] }
        for filter in query.filters { parts += filter.identity }
        for term in order.terms {
            parts.append(term.field)
            parts.append(term.descending ? "desc" : "asc")
        }
        return ListCursor.mark(of: parts)
    }
}

extension ListStatement {
    /// What most lists of an entity share: whole records, in its own order. Made once, because making it takes longer than
    /// reading ten records.
    struct Common: Sendable {
        let order: ListOrder
        /// Those of `RecordSelect`.
        let columns: String
        /// See `ListStatement.selection`.
        fileprivate let selection: String
        /// Callers cannot sort by a sealed field, though its entity's own order may have it.
        private let canBeAsked: Bool

        init(_ table: EntityTable) {
            order = ListOrder(table)
            columns = RecordSelect(table: table).columns
            selection = "SELECT \(columns)\(order.extraColumns) FROM \(table.name) WHERE "
            canBeAsked = (try? ListOrder(order.terms, table)) != nil
        }

        /// Whether a list sorted by these terms has the entity's own order.
        func isOrdered(by asked: [SortTerm]) -> Bool { asked.isEmpty || canBeAsked && asked == order.terms }
    }
}
