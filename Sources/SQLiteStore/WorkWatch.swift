package import GRDB
internal import GRDBSQLite

/// Asks repeatedly, while SQLite works on the writing connection, whether to continue.
///
/// It asks after a fixed number of SQLite's own instructions, so each question also proves that the work progresses.
package final class WorkWatch {
    /// Less than a millisecond of work.
    private static let instructions: Int32 = 5000

    private let goesOn: @Sendable () -> Bool

    package init(_ goesOn: @escaping @Sendable () -> Bool) { self.goesOn = goesOn }

    /// Runs `body`, which works on `pool`. Throws `CancellationError` when the answer was to stop; SQLite has then
    /// undone the transaction under way.
    package func during(_ pool: DatabasePool, _ body: () throws -> Void) throws {
        let context = Unmanaged.passRetained(self)
        defer { context.release() }
        pool.writeWithoutTransaction { db in
            sqlite3_progress_handler(
                db.sqliteConnection, Self.instructions,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<WorkWatch>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
                }, context.toOpaque())
        }
        defer { pool.writeWithoutTransaction { db in sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) } }
        do {
            try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw CancellationError()
        }
    }
}
