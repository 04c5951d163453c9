internal import EntitySchema
internal import GRDB
internal import JSONText

/// Values as the tables store them. The columns of times have milliseconds since 1970.
extension Row {
    /// Nil for NULL.
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }

    func time(_ column: Int) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }

    /// Nil for NULL.
    func json(_ column: String) throws -> JSONText? { try (self[column] as String?).map { try JSONText(parsing: $0) } }

    func json(_ column: Int) throws -> JSONText? { try (self[column] as String?).map { try JSONText(parsing: $0) } }

    /// The value of a column in a file that may be damaged; nil for NULL, and for what is no such value.
    ///
    /// GRDB's own subscript ends the process there, and with it the rescue of the queue at each start.
    func readable<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        Value.fromDatabaseValue(self[column] as DatabaseValue)
    }
}
