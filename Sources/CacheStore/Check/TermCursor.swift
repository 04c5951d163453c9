internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import SQLiteStore

/// Reads every instance of every term of a full-text index, in order: term, record, column, position.
struct TermCursor {
    enum Place {
        case before, same, after
        /// Both cursors are at their end.
        case end
    }

    private let statement: OpaquePointer
    private let owner: Statement
    private let columns: [String]
    private var isAtEnd = false

    /// `table` is a table of fts5vocab's kind `instance`; `columns` are the indexed columns in their order.
    init(_ table: String, columns: [String], _ db: Database) throws {
        owner = try db.makeStatement(sql: "SELECT term, doc, col, offset FROM temp.\(table)")
        statement = owner.sqliteStatement
        self.columns = columns
        try advance()
    }

    /// The `_pk` of the record.
    var record: Int64 { sqlite3_column_int64(statement, 1) }

    mutating func advance() throws {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return
        case SQLITE_DONE: isAtEnd = true
        case let code:
            let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
    }

    /// Where this cursor's row belongs in the other's order.
    func place(beside other: TermCursor) throws -> Place {
        if isAtEnd || other.isAtEnd { return isAtEnd ? (other.isAtEnd ? .end : .after) : .before }
        let terms = Self.compare(statement, other.statement)
        if terms != 0 { return terms < 0 ? .before : .after }
        if record != other.record { return record < other.record ? .before : .after }
        let (mine, others) = (column, other.column)
        if mine != others { return mine < others ? .before : .after }
        let (offset, otherOffset) = (sqlite3_column_int(statement, 3), sqlite3_column_int(other.statement, 3))
        return offset == otherOffset ? .same : offset < otherOffset ? .before : .after
    }

    /// The place of its column.
    private var column: Int {
        guard columns.count > 1, let name = sqlite3_column_text(statement, 2) else { return 0 }
        return columns.firstIndex { strcmp($0, name) == 0 } ?? 0
    }

    private static func compare(_ one: OpaquePointer, _ other: OpaquePointer) -> Int {
        guard let text = sqlite3_column_text(one, 0), let otherText = sqlite3_column_text(other, 0) else { return 0 }
        let (count, otherCount) = (Int(sqlite3_column_bytes(one, 0)), Int(sqlite3_column_bytes(other, 0)))
        let order = memcmp(text, otherText, min(count, otherCount))
        return order != 0 ? Int(order) : count - otherCount
    }
}
