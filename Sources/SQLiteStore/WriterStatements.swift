package import GRDB
internal import GRDBSQLite
internal import Synchronization

/// The numbered statements of a store's writing connection, kept prepared between transactions.
///
/// SQLite prepares a statement again by itself when the schema has changed. Statements run on the connection directly,
/// past GRDB, which sees only their effect: use them for rows, not for `BEGIN`, `COMMIT` or the schema.
package final class WriterStatements: Sendable {
    /// By number; 0 for one that is not prepared or is in use. Addresses, because a pointer cannot leave a mutex.
    private let idle = Mutex<[UInt]>([])

    package init() {}

    deinit { release() }

    /// Calls `body` with the statement, which has the values of its last use. Resets it afterwards.
    ///
    /// `db` is the writing connection. `body` may run other statements, and the same one again.
    package func with<Result>(
        _ sql: NumberedSQL, on db: Database, _ body: (BoundStatement) throws -> Result
    ) throws -> Result {
        let handle = try take(sql, db)
        defer { giveBack(handle, sql) }
        return try body(BoundStatement(handle))
    }

    /// Runs the statement to the end with these values.
    package func execute(_ sql: NumberedSQL, _ values: [DatabaseValue] = [], on db: Database) throws {
        try with(sql, on: db) { statement in
            try statement.bind(values)
            try statement.run()
        }
    }

    /// Finalizes all statements. Call it in a write before the writing connection closes; with statements it does not close.
    package func release() {
        let addresses = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        for address in addresses { sqlite3_finalize(OpaquePointer(bitPattern: address)) }
    }

    private func take(_ sql: NumberedSQL, _ db: Database) throws -> OpaquePointer {
        let address = idle.withLock { idle -> UInt in
            guard sql.number < idle.count else { return 0 }
            defer { idle[sql.number] = 0 }
            return idle[sql.number]
        }
        guard let connection = db.sqliteConnection else { throw CacheError.unwritable("the database is closed") }
        guard let handle = OpaquePointer(bitPattern: address) else { return try connection.preparing(sql.text) }
        guard sqlite3_db_handle(handle) == connection else {
            giveBack(handle, sql)
            throw CacheError.failed("a statement of the writing connection was used on another; please report this")
        }
        return handle
    }

    private func giveBack(_ handle: OpaquePointer, _ sql: NumberedSQL) {
        sqlite3_reset(handle)
        let isKept = idle.withLock { idle in
            while idle.count <= sql.number { idle.append(0) }
            guard idle[sql.number] == 0 else { return false }
            idle[sql.number] = UInt(bitPattern: handle)
            return true
        }
        // Another use of the same statement, inside this one, has been kept.
        if !isKept { sqlite3_finalize(handle) }
    }
}
