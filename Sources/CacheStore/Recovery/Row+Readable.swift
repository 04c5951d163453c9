internal import GRDB

extension Row {
    /// The value of a column in a file that may be damaged; nil for NULL, and for what is no such value.
    ///
    /// GRDB's own subscript ends the process there, and with it the rescue of the queue at each start.
    func readable<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        Value.fromDatabaseValue(self[column] as DatabaseValue)
    }
}
