internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore
internal import Synchronization

/// The order of a list: the requested fields, then the entity's own order, then the order of arrival.
///
/// A class only because each step of making a list copies what holds it.
final class ListOrder: Sendable {
    let table: EntityTable
    let terms: [SortTerm]
    private let keyset: Keyset
    /// That of the first of `extraColumns`.
    private let firstColumn: Int32
    /// The columns that a record query adds for `position(of:)`, each preceded by a comma.
    let extraColumns: String
    /// The terms of ORDER BY.
    let sql: String
    /// The conditions after positions without nulls, which are nearly all; nil until they are asked for.
    private let usualConditions = Mutex<[(sql: String, values: Int)]?>(nil)

    /// The entity's own order.
    convenience init(_ table: EntityTable) { self.init(terms: Self.completed([], table.entity), table) }

    /// The entity's own order follows the requested one, as in its indexes.
    convenience init(_ asked: [SortTerm], _ table: EntityTable) throws(CacheError) {
        let entity = table.entity
        for (index, term) in asked.enumerated() {
            guard let field = entity.listed(term.field), !field.isStoredSealed else {
                throw Self.unknown(term.field, entity)
            }
            if asked[..<index].contains(where: { $0.field == term.field }) {
                throw CacheError.badQuery(field: "sort", message: "sort names \(term.field) twice")
            }
        }
        self.init(terms: Self.completed(asked, entity), table)
    }

    /// A shorter position, after all values that share their beginning with a long one in this position.
    func shortened(_ position: [DatabaseValue]) -> [DatabaseValue] {
        let most = ListCursor.mostText / max(terms.count, 1)
        let areDescending = terms.map(\.descending) + [true]
        return zip(position, areDescending).map { value, isDescending in
            guard case .string(let text) = value.storage, text.utf8.count > most else { return value }
            var start = String.UnicodeScalarView()
            var room = most
            for scalar in text.unicodeScalars {
                room -= UTF8.width(scalar)
                guard room >= 0 else { break }
                start.append(scalar)
            }
            let beginning = String(start)
            return (isDescending ? beginning : TextCondition.end(of: beginning))?.databaseValue ?? value
        }
    }

    private static func unknown(_ name: String, _ entity: Entity) -> CacheError {
        let known = entity.fields.filter { !$0.isStoredSealed }.map(\.name) + [Entity.syncedAt.name]
        let hint =
            direction(in: name, of: known).map { "; did you mean \($0)?" }
            ?? Suggestion.hint(for: name, among: known, else: ".") + " Use any of \(known.joined(separator: ", "))"
        return .badQuery(field: "sort", message: "\(entity.name) cannot be sorted by \(name.prefix(100))\(hint)")
    }

    /// What `total.desc` is here: `-total`; nil for another name.
    private static func direction(in name: String, of known: [String]) -> String? {
        known.first { name == "\($0).desc" }.map { "-\($0)" } ?? known.first { name == "\($0).asc" }
    }

    private init(terms: [SortTerm], _ table: EntityTable) {
        self.table = table
        self.terms = terms
        firstColumn = RecordSelect.end(table)
        let columns = terms.map { term in
            Keyset.Column(
                name: table.sql(for: term.field), descending: term.descending,
                isNullable: term.field != table.entity.key)
        }
        let arrival = Keyset.Column(name: "_pk", descending: terms.last?.descending ?? false, isNullable: false)
        keyset = Keyset(columns: columns + [arrival])
        extraColumns = columns.map { ", \($0.name)" }.joined()
        sql = keyset.sql()
    }

    private static func completed(_ asked: [SortTerm], _ entity: Entity) -> [SortTerm] {
        var terms = asked
        if !asked.contains(where: { $0.field == entity.key }) {
            for term in entity.sort where !terms.contains(where: { $0.field == term.field }) {
                terms.append(SortTerm(field: term.field, descending: asked.last?.descending ?? term.descending))
            }
        }
        return terms
    }

    /// The same where no index gives the order: if the rows are few, it is better to find them first.
    var unarySQL: String { keyset.sql(unary: true) }

    /// The terms of ORDER BY for a compound query, where only column positions are known.
    var sqlByPosition: String {
        let first = Int(firstColumn)
        let columns = keyset.columns
        return columns.indices.map { index in
            let column = index == terms.count ? Int(RecordSelect.pkColumn) + 1 : first + 1 + index
            return "\(column)\(columns[index].descending ? " DESC" : "")"
        }.joined(separator: ", ")
    }

    /// A row's position in the order: the values of the sort fields, and `_pk`.
    func position(of statement: OpaquePointer) -> [DatabaseValue] {
        (0...terms.count).map { index in
            let column = index < terms.count ? firstColumn + Int32(index) : RecordSelect.pkColumn
            return switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: sqlite3_column_int64(statement, column).databaseValue
            case SQLITE_FLOAT: sqlite3_column_double(statement, column).databaseValue
            case SQLITE_NULL: DatabaseValue.null
            default: RecordBytes.text(column, of: statement).databaseValue
            }
        }
    }

    /// See `Keyset.conditions`.
    func conditions(after position: [DatabaseValue]) -> [(sql: String, values: Int)] {
        let isUsual = !position.contains(where: \.isNull)
        if isUsual, let known = usualConditions.withLock(\.self) { return known }
        let conditions = keyset.conditions(after: position, isNotNull: table.isNotNull)
        if isUsual { usualConditions.withLock { $0 = conditions } }
        return conditions
    }
}
