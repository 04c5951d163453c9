internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// The order of a list: the requested fields, then the entity's own order, then the order of arrival.
struct ListOrder {
    let table: EntityTable
    let terms: [SortTerm]

    /// The entity's own order follows the requested one, as in its indexes.
    init(_ asked: [SortTerm], _ table: EntityTable) throws(CacheError) {
        self.table = table
        let entity = table.entity
        var terms = asked
        for (index, term) in asked.enumerated() {
            guard let field = entity[field: term.field], !field.secret else {
                throw CacheError.badQuery(field: "sort", message: "\(entity.name) cannot be sorted by \(term.field)")
            }
            if asked[..<index].contains(where: { $0.field == term.field }) {
                throw CacheError.badQuery(field: "sort", message: "sort names \(term.field) twice")
            }
        }
        if !asked.contains(where: { $0.field == entity.key }) {
            for term in entity.sort where !terms.contains(where: { $0.field == term.field }) {
                terms.append(SortTerm(field: term.field, descending: asked.last?.descending ?? term.descending))
            }
        }
        self.terms = terms
    }

    /// The columns to order by, and whether each is descending.
    private var columns: [(name: String, descending: Bool)] {
        terms.map { (table.sql(for: $0.field), $0.descending) } + [("_pk", terms.last?.descending ?? false)]
    }

    /// The terms of ORDER BY. With `unary`, no index gives the order: if the rows are few, it is better to find them
    /// first.
    func sql(unary: Bool = false) -> String {
        columns.map { "\(unary ? "+" : "")\($0.name)\($0.descending ? " DESC" : "")" }.joined(separator: ", ")
    }

    /// The terms of ORDER BY for a compound query, where only column positions are known.
    var sqlByPosition: String {
        let first = Int(RecordSelect.pkColumn) + 1
        return columns.indices.map { index in
            let column = index == terms.count ? first : first + 1 + index
            return "\(column)\(columns[index].descending ? " DESC" : "")"
        }.joined(separator: ", ")
    }

    /// The columns that a record query adds for `position(of:)`, each preceded by a comma.
    var extraColumns: String { terms.map { ", \(table.sql(for: $0.field))" }.joined() }

    /// A row's position in the order: the values of the sort fields, and `_pk`.
    func position(of statement: OpaquePointer) -> [DatabaseValue] {
        let first = RecordSelect.pkColumn + 1
        let sortColumns = (0..<terms.count).map { first + Int32($0) }
        return (sortColumns + [RecordSelect.pkColumn]).map { column in
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: sqlite3_column_int64(statement, column).databaseValue
            case SQLITE_FLOAT: sqlite3_column_double(statement, column).databaseValue
            case SQLITE_NULL: DatabaseValue.null
            default: RecordBytes.text(column, of: statement).databaseValue
            }
        }
    }

    /// Everything after a position, as consecutive ranges that an index can seek: rows equal to it in all sort fields
    /// but the last and beyond it in that one, then rows equal in all but the last two, and so on, with nulls in their
    /// place.
    func ranges(after position: [DatabaseValue]) -> [(condition: String, arguments: [DatabaseValue])] {
        let columns = columns
        var ranges: [(condition: String, arguments: [DatabaseValue])] = []
        for index in columns.indices.reversed() {
            let prefix = columns[..<index].map { "\($0.name) IS ?" }
            let (column, descending) = columns[index]
            let value = position[index]
            func add(_ condition: String, _ arguments: [DatabaseValue]) {
                ranges.append(
                    ((prefix + [condition]).joined(separator: " AND "), Array(position[..<index]) + arguments))
            }
            // SQLite sorts null before everything.
            switch (descending, value.isNull) {
            case (false, false): add("\(column) > ?", [value])
            case (false, true): add(table.isNotNull(column), [])
            case (true, false):
                add("\(column) < ?", [value])
                if column != "_pk", column != "_key" { add("\(column) IS NULL", []) }
            case (true, true): break
            }
        }
        return ranges
    }
}
