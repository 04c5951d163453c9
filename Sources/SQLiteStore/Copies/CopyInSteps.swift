package import GRDB
internal import GRDBSQLite

/// Copies a database in use, a few pages at a time, on the connection that writes to it.
///
/// A writer waits for one step at most. The log is checkpointed between the steps, so it does not grow by everything
/// written during a long copy. SQLite adds those writes to the copy too, because they go through the same connection
/// (https://sqlite.org/c3ref/backup_finish.html): the copy shows the moment of the last step.
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

    /// Blocks until everything is copied. Nothing else may use `target` meanwhile.
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

    /// Returns true after the last step.
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

        var error: DatabaseError { DatabaseError(resultCode: ResultCode(rawValue: sqlite3_errcode(connection))) }
    }
}
