internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Counts what a writer does, also within a transaction that takes long: for a watchdog.
final class WriterPulse: Sendable {
    /// Some milliseconds of work.
    private static let instructions: Int32 = 100_000

    private let count = Atomic<UInt64>(0)

    /// Another one than before once the writer has done something.
    var moment: UInt64 { count.load(ordering: .relaxed) }

    func beat() { count.add(1, ordering: .relaxed) }

    /// Beats while SQLite works on `db`.
    func during<Result>(_ db: Database, _ body: () throws -> Result) rethrows -> Result {
        // Nil once it is closed: then `body` throws.
        guard let connection = db.sqliteConnection else { return try body() }
        sqlite3_progress_handler(
            connection, Self.instructions,
            { context in
                if let context { Unmanaged<WriterPulse>.fromOpaque(context).takeUnretainedValue().beat() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }
}
