package import GRDB
internal import GRDBSQLite

/// One read-only connection and its prepared statements, for one thread at a time.
package final class ReadConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Callers can build any number of different lists; beyond this limit, all prepared statements are dropped.
    private static let statementLimit = 100
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Opens a file that the writer already has open, so that its log exists.
    package init(path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "\(path) could not be opened")
        }
        handle = opened
        sqlite3_busy_timeout(handle, 5000)
        // SQLite's default page cache of 2 MB is enough, since the kernel caches the file; setting it would read the
        // schema.
        try execute("PRAGMA temp_store = MEMORY")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Calls `row` with the statement on each row of the result until it returns false. One query is its own snapshot.
    package func query(_ sql: String, _ arguments: [DatabaseValue], row: (OpaquePointer) -> Bool) throws {
        let statement = try prepared(sql)
        defer { sqlite3_reset(statement) }
        for (index, value) in arguments.enumerated() { try bind(value, to: Int32(index + 1), of: statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: guard row(statement) else { return }
            case SQLITE_DONE: return
            default: throw lastError
            }
        }
    }

    package typealias Statement = (sql: String, arguments: [DatabaseValue])

    /// Runs the statements one after the other; when `row` returns false, none after it runs.
    package func query(_ statements: [Statement], row: (OpaquePointer) -> Bool) throws {
        var goesOn = true
        for statement in statements where goesOn {
            try query(statement.sql, statement.arguments) {
                goesOn = row($0)
                return goesOn
            }
        }
    }

    /// Runs several queries on one snapshot.
    package func snapshot(_ body: () throws -> Void) throws {
        try execute("BEGIN")
        defer { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        try body()
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        if statements.count >= Self.statementLimit {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements.removeAll(keepingCapacity: true)
        }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw lastError }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: DatabaseValue, to index: Int32, of statement: OpaquePointer) throws {
        let code =
            switch value.storage {
            case .null: sqlite3_bind_null(statement, index)
            case .int64(let number): sqlite3_bind_int64(statement, index, number)
            case .double(let number): sqlite3_bind_double(statement, index, number)
            case .string(let text): sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), Self.transient)
            case .blob: SQLITE_MISMATCH  // a field's value is never bytes
            }
        guard code == SQLITE_OK else { throw lastError }
    }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError }
    }

    private var lastError: DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(handle)),
            message: String(cString: sqlite3_errmsg(handle)))
    }
}
