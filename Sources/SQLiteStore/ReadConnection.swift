package import GRDB
internal import GRDBSQLite

/// One read-only connection and its prepared statements, for one thread at a time.
package final class ReadConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    /// By number.
    private var numbered: [OpaquePointer?] = []

    /// Callers can build any number of different lists; beyond this limit, all prepared statements are dropped.
    private static let statementLimit = 100

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
        for statement in numbered { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Calls `row` with the statement on each row of the result until it returns false. One query is its own snapshot.
    package func query(_ sql: String, _ arguments: [DatabaseValue], row: (OpaquePointer) -> Bool) throws {
        try run(prepared(sql), arguments, row)
    }

    /// The same for a fixed statement, without looking it up by its text.
    package func query(_ sql: NumberedSQL, _ arguments: [DatabaseValue] = [], row: (OpaquePointer) -> Bool) throws {
        try run(prepared(sql), arguments, row)
    }

    private func run(_ handle: OpaquePointer, _ arguments: [DatabaseValue], _ row: (OpaquePointer) -> Bool) throws {
        let statement = BoundStatement(handle)
        defer { sqlite3_reset(handle) }
        try statement.bind(arguments)
        while try statement.step() { guard row(handle) else { return } }
    }

    /// Lets statements use `entry_sum`.
    func addEntrySum() throws { try EntrySum.add(to: handle) }

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
        let statement = try handle.preparing(sql)
        statements[sql] = statement
        return statement
    }

    private func prepared(_ sql: NumberedSQL) throws -> OpaquePointer {
        if sql.number < numbered.count, let statement = numbered[sql.number] { return statement }
        let statement = try handle.preparing(sql.text)
        while numbered.count <= sql.number { numbered.append(nil) }
        numbered[sql.number] = statement
        return statement
    }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw DatabaseError(lastOf: handle) }
    }
}
