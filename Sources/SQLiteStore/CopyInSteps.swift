package import GRDB
internal import GRDBSQLite

/// Copies a database that is in use a few pages at a time, on the connection that writes it.
///
/// Writers wait for one step at most, and between the steps the log is written back, so that it does not grow by all that
/// is written while a large database is copied. What is written meanwhile SQLite puts into the copy as well, since it goes
/// through the same connection (https://sqlite.org/c3ref/backup_finish.html): the copy is of the moment of the last step.
package struct CopyInSteps {
    package let writer: DatabasePool
    /// 1 MiB: a few milliseconds.
    package var pagesPerStep: Int32
    /// Called after each step but the last.
    package var afterStep: () throws -> Void = {}

    package init(writer: DatabasePool, pagesPerStep: Int32 = 256) {
        self.writer = writer
        self.pagesPerStep = pagesPerStep
    }

    /// Blocks until all is copied. `target` is used by nobody else meanwhile.
    package func copy(to target: DatabaseQueue) throws {
        let target = target.inDatabase { db in Handle(connection: db.sqliteConnection) }
        let copying = try writer.writeWithoutTransaction { db in
            guard let begun = sqlite3_backup_init(target.connection, "main", db.sqliteConnection, "main") else {
                throw target.error
            }
            return begun
        }
        let copied = Result { while try !step(copying) { try afterStep() } }
        let code = writer.writeWithoutTransaction { _ in sqlite3_backup_finish(copying) }
        try copied.get()
        guard code == SQLITE_OK else { throw target.error }
    }

    /// True when it was the last.
    private func step(_ copying: OpaquePointer) throws -> Bool {
        let code = writer.writeWithoutTransaction { _ in sqlite3_backup_step(copying, pagesPerStep) }
        switch code {
        case SQLITE_DONE: return true
        case SQLITE_OK: return false
        default: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    private struct Handle {
        let connection: SQLiteConnection?

        var error: DatabaseError {
            DatabaseError(resultCode: ResultCode(rawValue: sqlite3_errcode(connection)))
        }
    }
}
