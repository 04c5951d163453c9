internal import GRDB
internal import Synchronization

/// The connections that read records and lists, which are nearly all requests.
///
/// GRDB's pool takes a reader through three dispatch queues and checks the schema's version in a transaction of its
/// own; together that costs more than reading a record. Here a caller takes any free connection. Each is opened when it
/// is first needed, because reading the schema takes long.
package struct ReaderPool: Sendable {
    private final class Seat: Sendable {
        enum State {
            case unopened, closed
            case open(ReadConnection)
        }

        let state: Mutex<State>

        init() { state = Mutex(.unopened) }

        init(_ connection: sending ReadConnection) { state = Mutex(.open(connection)) }
    }

    private let path: String
    private let seats: [Seat]
    private let damage: DamageWatch

    /// `first` is a connection to use before others are opened.
    package init(path: String, damage: DamageWatch, count: Int, first: sending ReadConnection?) {
        self.path = path
        self.damage = damage
        let one = if let first { Seat(first) } else { Seat() }
        seats = [one] + (1..<max(1, count)).map { _ in Seat() }
    }

    /// Throws a `CacheError` for every error of SQLite.
    package func read<Result: Sendable>(_ body: @Sendable (ReadConnection) throws -> Result) throws -> Result {
        for seat in seats {
            if let result = try seat.state.withLockIfAvailable({ try run(body, &$0) }) { return result }
        }
        return try seats[0].state.withLock { try run(body, &$0) }
    }

    /// Waits for running reads; nothing can be read afterwards.
    package func close() {
        for seat in seats { seat.state.withLock { $0 = .closed } }
    }

    private func run<Result: Sendable>(
        _ body: @Sendable (ReadConnection) throws -> Result, _ state: inout Seat.State
    ) throws -> Result {
        do {
            switch state {
            case .open(let connection): return try body(connection)
            case .unopened:
                let connection = try ReadConnection(path: path)
                state = .open(connection)
                return try body(connection)
            case .closed: throw CacheError.unwritable("the database is closed")
            }
        } catch {
            throw damage.classified(error)
        }
    }
}
