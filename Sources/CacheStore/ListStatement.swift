internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText

/// One list as SQL. Names come from the schema, values are always bound.
///
/// A page after a cursor is a chain of ranges, each of which an index can seek: rows equal to the cursor in all sort
/// fields but the last and beyond it there, then equal in all but the last two, and so on, nulls in their place. So the
/// thousandth page costs what the first does.
struct ListStatement {
    private let table: EntityTable
    private let query: ListQuery
    private let terms: [SortTerm]
    private let conditions: [String]
    private let conditionArguments: [DatabaseValue]
    private let cursorValues: [DatabaseValue]?

    init(table: EntityTable, query: ListQuery) throws(CacheError) {
        self.table = table
        self.query = query
        terms = try Self.terms(query.sort, table.entity)
        for name in query.fields ?? [] {
            guard let field = table.entity[field: name], !field.secret else {
                throw CacheError.badQuery(field: "fields", message: "\(table.entity.name) cannot show a field \(name)")
            }
        }
        var filter = ListFilter(table: table)
        for term in query.filters { try filter.add(term) }
        if let sync = query.sync { filter.add(sync) }
        conditions = filter.conditions
        conditionArguments = filter.arguments
        cursorValues = try Self.cursorValues(query, terms)
    }

    private static func cursorValues(_ query: ListQuery, _ terms: [SortTerm]) throws(CacheError) -> [DatabaseValue]? {
        guard let text = query.cursor else { return nil }
        guard let values = ListCursor.values(of: text, list: name(query, terms)), values.count == terms.count + 1 else {
            throw CacheError.badQuery(
                field: "cursor", message: "this cursor belongs to another list; use next with the same filters and sort"
            )
        }
        return values
    }

    // MARK: Statements

    var sql: String {
        guard let cursorValues else { return "\(select(extra: nil)) LIMIT ?" }
        let parts = ranges(cursorValues).map { "SELECT * FROM (\(select(extra: $0.condition)) LIMIT ?)" }
        return parts.joined(separator: " UNION ALL ") + " LIMIT ?"
    }

    var arguments: [DatabaseValue] {
        let limit = (query.limit + 1).databaseValue
        guard let cursorValues else { return conditionArguments + [limit] }
        return ranges(cursorValues).flatMap { conditionArguments + $0.arguments + [limit] } + [limit]
    }

    var countSQL: String { "SELECT count(*) FROM \(table.name) WHERE \(conditions.joined(separator: " AND "))" }
    var countArguments: [DatabaseValue] { conditionArguments }

    /// Where a row stands in the order: the sort fields' values and `_pk`.
    func position(_ statement: OpaquePointer) -> [DatabaseValue] {
        let first = RecordSelect.pkColumn + 1
        let sortColumns = (0..<terms.count).map { first + Int32($0) }
        return (sortColumns + [RecordSelect.pkColumn]).map { column in
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: sqlite3_column_int64(statement, column).databaseValue
            case SQLITE_FLOAT: sqlite3_column_double(statement, column).databaseValue
            case SQLITE_NULL: DatabaseValue.null
            default: sqlite3_column_text(statement, column).map { String(cString: $0).databaseValue } ?? .null
            }
        }
    }

    func cursor(after position: [DatabaseValue]) -> String {
        ListCursor.text(position, list: Self.name(query, terms))
    }

    // MARK: Parts

    private func select(extra: String?) -> String {
        let sortColumns = terms.map { ", \(table.sql(for: $0.field))" }.joined()
        let all = conditions + [extra].compactMap { $0 }
        let order =
            terms.map { "\(table.sql(for: $0.field))\($0.descending ? " DESC" : "")" }
            + ["_pk\(tieDescending ? " DESC" : "")"]
        return """
            SELECT \(RecordSelect(table: table, fields: query.fields).columns)\(sortColumns) FROM \(table.name)
            WHERE \(all.joined(separator: " AND ")) ORDER BY \(order.joined(separator: ", "))
            """
    }

    private var tieDescending: Bool { terms.last?.descending ?? false }

    private func ranges(_ cursor: [DatabaseValue]) -> [(condition: String, arguments: [DatabaseValue])] {
        let columns = terms.map { (table.sql(for: $0.field), $0.descending) } + [("_pk", tieDescending)]
        var ranges: [(condition: String, arguments: [DatabaseValue])] = []
        for position in columns.indices.reversed() {
            let prefix = columns[..<position].map { "\($0.0) IS ?" }
            let (column, descending) = columns[position]
            let value = cursor[position]
            func add(_ condition: String, _ arguments: [DatabaseValue]) {
                ranges.append(
                    ((prefix + [condition]).joined(separator: " AND "), Array(cursor[..<position]) + arguments))
            }
            // SQLite sorts null before everything.
            switch (descending, value.isNull) {
            case (false, false): add("\(column) > ?", [value])
            case (false, true): add("\(column) IS NOT NULL", [])
            case (true, false):
                add("\(column) < ?", [value])
                if column != "_pk" { add("\(column) IS NULL", []) }
            case (true, true): break
            }
        }
        return ranges
    }

    /// The asked order, then the entity's own between equals, which is how its indexes are made.
    private static func terms(_ asked: [SortTerm], _ entity: Entity) throws(CacheError) -> [SortTerm] {
        var terms = asked
        for (index, term) in asked.enumerated() {
            guard let field = entity[field: term.field], !field.secret else {
                throw CacheError.badQuery(field: "sort", message: "\(entity.name) cannot be sorted by \(term.field)")
            }
            if asked[..<index].contains(where: { $0.field == term.field }) {
                throw CacheError.badQuery(field: "sort", message: "\(term.field) stands in sort twice")
            }
        }
        if asked.contains(where: { $0.field == entity.key }) { return terms }
        for term in entity.sort where !terms.contains(where: { $0.field == term.field }) {
            terms.append(SortTerm(field: term.field, descending: asked.last?.descending ?? term.descending))
        }
        return terms
    }

    /// What tells one list from another: its filters and its order.
    private static func name(_ query: ListQuery, _ terms: [SortTerm]) -> String {
        var parts = [query.entity, query.sync?.rawValue ?? ""]
        for filter in query.filters { parts += [filter.field, filter.comparison.rawValue] + filter.values }
        for term in terms { parts += [term.field, term.descending ? "desc" : "asc"] }
        return JSONText.array(parts.map(JSONText.string)).text
    }
}
