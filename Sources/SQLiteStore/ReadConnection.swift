internal import CSQLite
package import GRDB
internal import GRDBSQLite

/// A statement or a part of one, and the values bound to its parameters.
package typealias BoundSQL = (sql: String, arguments: [DatabaseValue])

/// One read-only connection and its prepared statements, for one thread at a time.
package final class ReadConnection {
    private let handle: OpaquePointer
    /// By the length of their texts. Hashing the text of a list would take as long as reading a record; comparing two of
    /// the same length takes a fraction of it.
    private var statements: [Int: [(sql: String, handle: OpaquePointer)]] = [:]
    private var numbered: [OpaquePointer?] = []

    private let limit: ReadLimit

    /// The moment of `ReaderPool` that the held snapshot is as new as, or newer; nil while none is held.
    private var held: UInt64?

    /// By the number of the query; see `kept`.
    private var answers: [Int: Any] = [:]

    /// The last walk.
    private var walked: (query: BoundSQL, version: Int64, rows: WalkedRows.Numbers)?

    /// Callers can build any number of different lists; beyond this limit, prepared statements are dropped.
    private static let statementLimit = 100

    /// Opens a file that the writer already has open, so that its log exists. While another program has it locked, each query waits
    /// for `patience`, then fails.
    package init(path: String, patience: Duration = .seconds(5)) throws {
        try DatabaseFile.requireRegular(path)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "\(path) could not be opened")
        }
        handle = opened
        limit = ReadLimit(of: opened)
        sqlite3_busy_timeout(handle, Int32(clamping: Int(patience / .milliseconds(1))))
        ForeignFile.limit(handle)
        csqlite_refuse_views(handle)
        try TextPart.addFunctions(to: handle)
        // SQLite's default page cache of 2 MB is enough, since the kernel caches the file; setting it would read the
        // schema. A sort holds all records of a page at once, with any size: what does not fit into 2 MB goes to a file.
        try execute("PRAGMA temp_store = FILE")
    }

    deinit {
        for statement in statements.values.joined() { sqlite3_finalize(statement.handle) }
        for statement in numbered { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs `body`, whose queries throw `ReadTakesLong` once `goesOn` is false. It is asked every thousand of SQLite's own
    /// instructions, which take less than a millisecond.
    func limited<Result>(_ goesOn: @escaping () -> Bool, _ body: (ReadConnection) throws -> Result) throws -> Result {
        limit.goesOn = goesOn
        defer { limit.goesOn = nil }
        do {
            return try body(self)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw ReadTakesLong()
        }
    }

    /// Calls `row` with the statement on each row of the result until it returns false. One query is its own snapshot,
    /// unless one is held.
    package func query(_ sql: String, _ arguments: [DatabaseValue], row: (OpaquePointer) -> Bool) throws {
        try run(prepared(sql), arguments, row)
    }

    /// The same for a fixed statement, without looking it up by its text.
    package func query(_ sql: NumberedSQL, _ arguments: [DatabaseValue] = [], row: (OpaquePointer) -> Bool) throws {
        try run(prepared(sql), arguments, row)
    }

    /// What `read` makes of the first row; nil when there is none.
    package func first<Result>(
        _ sql: String, _ arguments: [DatabaseValue] = [], _ read: (OpaquePointer) -> Result
    ) throws -> Result? {
        var result: Result?
        try query(sql, arguments) { row in
            result = read(row)
            return false
        }
        return result
    }

    private func run(
        _ handle: OpaquePointer, _ arguments: [DatabaseValue] = [], _ row: (OpaquePointer) -> Bool = { _ in true }
    ) throws {
        let statement = BoundStatement(handle)
        defer { sqlite3_reset(handle) }
        try statement.bind(arguments)
        while try statement.step() { guard row(handle) else { return } }
    }

    /// Lets the full-text index read the texts around a match through its view, in a file that the store has adapted.
    func allowViews() { csqlite_allow_views(handle) }

    /// Lets statements use `entry_sum`.
    func addEntrySum() throws { try EntrySum.add(to: handle) }

    /// The answer that `read` finds by this query, kept until the next commit: for what takes long to read and is asked for
    /// often. A query must always be read in the same way, with the same arguments.
    package func kept<Answer>(_ sql: NumberedSQL, _ read: () throws -> Answer) rethrows -> Answer {
        if let known = answers[sql.number] as? Answer { return known }
        let answer = try read()
        // Without a snapshot that is held, the next read may see another commit.
        if held != nil { answers[sql.number] = answer }
        return answer
    }

    /// Runs a query with one argument for each of these; when `row` returns false, for none after it.
    package func query(_ sql: String, forEach numbers: [Int64], row: (OpaquePointer) -> Bool) throws {
        let handle = try prepared(sql)
        let statement = BoundStatement(handle)
        defer { sqlite3_reset(handle) }
        for number in numbers {
            sqlite3_reset(handle)
            try statement.bind(number, to: 1)
            while try statement.step() { guard row(handle) else { return } }
        }
    }

    /// Runs `body` with the rows of a query, which it reads as far as it needs. Call it in a snapshot: rows that an
    /// earlier walk with the same query has read are kept until the database changes.
    package func walk<Result>(_ query: BoundSQL, _ body: (inout WalkedRows) throws -> Result) throws -> Result {
        let moment = try version()
        let isSame = walked.map { $0.query == query && $0.version == moment } ?? false
        var rows = WalkedRows(of: query, self, kept: isSame ? walked?.rows : nil)
        defer { rows.end() }
        let result = try body(&rows)
        walked = rows.kept.map { (query, moment, $0) }
        return result
    }

    /// The statement of a query, ready for its first step.
    func begun(_ query: BoundSQL) throws -> BoundStatement {
        let statement = BoundStatement(try prepared(query.sql))
        try statement.bind(query.arguments)
        return statement
    }

    /// Changes whenever another connection has changed the database.
    private func version() throws -> Int64 { try first("PRAGMA data_version") { sqlite3_column_int64($0, 0) } ?? 0 }

    // MARK: Snapshots

    /// Runs several queries on one snapshot.
    package func snapshot(_ body: () throws -> Void) throws {
        guard held == nil else { return try body() }
        try run(prepared("BEGIN"))
        defer { try? run(prepared("ROLLBACK")) }
        try body()
    }

    /// Keeps the snapshot of the next query for those after it, unless the one of this moment is held already.
    func hold(asOf moment: UInt64) throws {
        // Some errors end it.
        if held == moment, sqlite3_get_autocommit(handle) == 0 { return }
        letGo()
        try run(prepared("BEGIN"))
        held = moment
    }

    func letGo() {
        guard held != nil else { return }
        held = nil
        answers.removeAll(keepingCapacity: true)
        if sqlite3_get_autocommit(handle) == 0 { try? run(prepared("ROLLBACK")) }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        let length = sql.utf8.count
        if let known = statements[length]?.first(where: { $0.sql == sql }) { return known.handle }
        if statements.values.joined().count >= Self.statementLimit { dropStatements() }
        let statement = try handle.preparing(sql)
        statements[length, default: []].append((sql, statement))
        return statement
    }

    /// A caller may be in the middle of one, and ask for another.
    private func dropStatements() {
        statements = statements.mapValues { statements in
            statements.filter { statement in
                guard sqlite3_stmt_busy(statement.handle) == 0 else { return true }
                sqlite3_finalize(statement.handle)
                return false
            }
        }
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

/// How far SQLite may go in the reads of one connection, asked every thousand of its own instructions.
private final class ReadLimit {
    private static let instructions: Int32 = 1000

    /// False ends the read under way with `SQLITE_INTERRUPT`; nil lets it take as long as it likes.
    var goesOn: (() -> Bool)?

    /// The connection asks as long as it is open: keep this object until it is closed.
    init(of connection: OpaquePointer) {
        sqlite3_progress_handler(
            connection, Self.instructions,
            { context in
                guard let context else { return 0 }
                let goesOn = Unmanaged<ReadLimit>.fromOpaque(context).takeUnretainedValue().goesOn
                return goesOn?() ?? true ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
