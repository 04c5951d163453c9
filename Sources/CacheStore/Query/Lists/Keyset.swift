internal import GRDB
internal import SQLiteStore

/// An order of rows by columns, the last of which is unique, and what comes after a position in it.
struct Keyset {
    struct Column {
        var name: String
        var descending: Bool
        var isNullable: Bool
    }

    let columns: [Column]

    /// The terms of ORDER BY. With `unary`, no index gives the order.
    func sql(unary: Bool = false) -> String {
        columns.map { "\(unary ? "+" : "")\($0.name)\($0.descending ? " DESC" : "")" }.joined(separator: ", ")
    }

    /// Everything after a position, as consecutive ranges that an index can seek: rows equal to it in all columns but
    /// the last and beyond it in that one, then rows equal in all but the last two, and so on, with nulls in their
    /// place. `isNotNull` makes a condition on a column.
    func ranges(after position: [DatabaseValue], isNotNull: (_ column: String) -> String) -> [BoundSQL] {
        columns.indices.reversed().flatMap { index -> [BoundSQL] in
            let prefix = columns[..<index].map { "\($0.name) IS ?" }
            return Self.beyond(position[index], in: columns[index], isNotNull).map { condition, arguments in
                ((prefix + [condition]).joined(separator: " AND "), Array(position[..<index]) + arguments)
            }
        }
    }

    /// The conditions of these ranges, and how many leading values of the position are bound to each. Positions with
    /// nulls in the same places share them.
    func conditions(
        after position: [DatabaseValue], isNotNull: (_ column: String) -> String
    ) -> [(sql: String, values: Int)] {
        ranges(after: position, isNotNull: isNotNull).map { ($0.sql, $0.arguments.count) }
    }

    /// The ranges after a value of one column. SQLite sorts null before everything.
    private static func beyond(
        _ value: DatabaseValue, in column: Column, _ isNotNull: (_ column: String) -> String
    ) -> [BoundSQL] {
        switch (column.descending, value.isNull) {
        case (false, false): [("\(column.name) > ?", [value])]
        case (false, true): [(isNotNull(column.name), [])]
        case (true, false):
            [("\(column.name) < ?", [value])] + (column.isNullable ? [("\(column.name) IS NULL", [])] : [])
        case (true, true): []
        }
    }
}
