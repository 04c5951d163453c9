internal import GRDB
internal import Synchronization

/// The connections that read records and lists, which are nearly all requests.
///
/// GRDB's pool takes a reader through three dispatch queues and checks the schema's version in a transaction of its
/// own; together that costs more than reading a record. Here a caller takes any free connection.
package struct ReaderPool: Sendable {
    private final class Seat: Sendable {
        /// Nil once closed.
        let connection: Mutex<ReadConnection?>

        init(path: String) throws {
            connection = Mutex(try ReadConnection(path: path))
        }
    }

    private let seats: [Seat]
    private let damage: DamageWatch

    package init(path: String, damage: DamageWatch, count: Int) throws {
        self.damage = damage
        seats = try (0..<max(1, count)).map { _ in try Seat(path: path) }
    }

    /// Throws a `CacheError` for every error of SQLite.
    package func read<Result: Sendable>(_ body: @Sendable (ReadConnection) throws -> Result) throws -> Result {
        for seat in seats {
            if let result = try seat.connection.withLockIfAvailable({ try run(body, $0) }) { return result }
        }
        return try seats[0].connection.withLock { try run(body, $0) }
    }

    /// Waits for running reads; nothing can be read afterwards.
    package func close() {
        for seat in seats { seat.connection.withLock { $0 = nil } }
    }

    private func run<Result: Sendable>(
        _ body: @Sendable (ReadConnection) throws -> Result, _ connection: ReadConnection?
    ) throws -> Result {
        guard let connection else { throw CacheError.unwritable("the database is closed") }
        do {
            return try body(connection)
        } catch {
            throw damage.classified(error)
        }
    }
}
