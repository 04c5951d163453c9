package import GRDB
internal import GRDBSQLite

/// A prepared statement while one caller uses it: its values, its steps and the columns of its current row.
///
/// Parameters and columns count as SQLite counts them: parameters from 1, columns from 0. A parameter keeps its value
/// until another is bound. Errors are SQLite's, as `DatabaseError`.
package struct BoundStatement {
    /// SQLite's own name of it (`sqlite3_stmt`).
    package let handle: OpaquePointer

    /// For reading the columns of a row of `ReadConnection.query`.
    package init(_ row: OpaquePointer) { handle = row }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Values

    package func bind(_ number: Int64?, to index: Int32) throws {
        guard let number else { return try bindNull(to: index) }
        try check(sqlite3_bind_int64(handle, index, number))
    }

    package func bind(_ text: String?, to index: Int32) throws {
        // Swift's own text is UTF-8 already: this copies it once, into SQLite.
        guard var utf8 = text else { return try bindNull(to: index) }
        try utf8.withUTF8 { try bind(utf8: $0, to: index) }
    }

    package func bind(utf8: UnsafeBufferPointer<UInt8>, to index: Int32) throws {
        try check(
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                // An empty text has no address; SQLite would bind null.
                bytes.isEmpty
                    ? sqlite3_bind_text(handle, index, "", 0, Self.transient)
                    : sqlite3_bind_text(handle, index, bytes.baseAddress, Int32(bytes.count), Self.transient)
            })
    }

    package func bindNull(to index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

    package func bind(_ value: DatabaseValue, to index: Int32) throws {
        switch value.storage {
        case .null: try bindNull(to: index)
        case .int64(let number): try bind(number, to: index)
        case .double(let number): try check(sqlite3_bind_double(handle, index, number))
        case .string(let text): try bind(text, to: index)
        case .blob: try check(SQLITE_MISMATCH)  // a field's value is never bytes
        }
    }

    /// Binds the values to the first parameters.
    package func bind(_ values: [DatabaseValue]) throws {
        var index: Int32 = 1
        for value in values {
            try bind(value, to: index)
            index += 1
        }
    }

    // MARK: Running

    /// Moves to the next row; returns false after the last one.
    package func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw error
        }
    }

    /// Runs to the end.
    package func run() throws { while try step() {} }

    // MARK: Columns of the current row

    /// Nil for NULL.
    package func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    /// Nil for NULL.
    package func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    // MARK: Errors

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    private var error: DatabaseError { DatabaseError(lastOf: sqlite3_db_handle(handle)) }
}

extension DatabaseError {
    /// The last error of a connection.
    init(lastOf connection: OpaquePointer?) {
        self.init(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}

extension OpaquePointer {
    /// Prepares a statement for keeping; `self` is a connection.
    func preparing(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(self, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw DatabaseError(lastOf: self) }
        return statement
    }
}
