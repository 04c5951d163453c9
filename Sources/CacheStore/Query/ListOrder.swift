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
            guard let field = entity.listed(term.field), !field.isStoredSealed else {
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

    private var keyset: Keyset {
        let columns = terms.map { term in
            Keyset.Column(
                name: table.sql(for: term.field), descending: term.descending,
                isNullable: term.field != table.entity.key)
        }
        let arrival = Keyset.Column(name: "_pk", descending: terms.last?.descending ?? false, isNullable: false)
        return Keyset(columns: columns + [arrival])
    }

    /// The terms of ORDER BY. With `unary`, no index gives the order: if the rows are few, it is better to find them
    /// first.
    func sql(unary: Bool = false) -> String { keyset.sql(unary: unary) }

    /// The terms of ORDER BY for a compound query, where only column positions are known.
    var sqlByPosition: String {
        let first = Int(RecordSelect.end(table))
        let columns = keyset.columns
        return columns.indices.map { index in
            let column = index == terms.count ? Int(RecordSelect.pkColumn) + 1 : first + 1 + index
            return "\(column)\(columns[index].descending ? " DESC" : "")"
        }.joined(separator: ", ")
    }

    /// The columns that a record query adds for `position(of:)`, each preceded by a comma.
    var extraColumns: String { terms.map { ", \(table.sql(for: $0.field))" }.joined() }

    /// A row's position in the order: the values of the sort fields, and `_pk`.
    func position(of statement: OpaquePointer) -> [DatabaseValue] {
        let first = RecordSelect.end(table)
        return (0...terms.count).map { index in
            let column = index < terms.count ? first + Int32(index) : RecordSelect.pkColumn
            return switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: sqlite3_column_int64(statement, column).databaseValue
            case SQLITE_FLOAT: sqlite3_column_double(statement, column).databaseValue
            case SQLITE_NULL: DatabaseValue.null
            default: RecordBytes.text(column, of: statement).databaseValue
            }
        }
    }

    /// See `Keyset.ranges`.
    func ranges(after position: [DatabaseValue]) -> [Keyset.Range] {
        keyset.ranges(after: position, isNotNull: table.isNotNull)
    }
}
