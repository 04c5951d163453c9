internal import GRDB
internal import Synchronization

/// The connections that read records and lists, which are nearly all requests.
///
/// GRDB's pool takes a reader through three dispatch queues and checks the schema's version in a transaction of its
/// own; together that costs more than reading a record. Here a caller takes any free connection. Each is opened when it
/// is first needed, because reading the schema takes long.
///
/// To begin and end a snapshot takes two calls of the kernel, so a connection holds its own until the next commit. While a
/// commit is under way, some connections can see it and others cannot. Then each read has its own snapshot, so that what a caller
/// has seen once is in everything that it reads later.
package final class ReaderPool: Sendable {
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
    private let holdsSnapshots: Bool
    /// Twice the number of commits; odd while one is under way.
    private let moment = Atomic<UInt64>(0)

    /// `first` is a connection to use before others are opened. With `holdsSnapshots`, `beginCommit` and `endCommit` have to be
    /// called at each commit.
    package init(
        path: String, damage: DamageWatch, count: Int, first: sending ReadConnection?, holdsSnapshots: Bool = true
    ) {
        self.path = path
        self.damage = damage
        self.holdsSnapshots = holdsSnapshots
        first?.allowViews()
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

    /// The same; throws `ReadTakesLong` when `goesOn`, which is asked while SQLite works, has returned false.
    package func read<Result: Sendable>(
        while goesOn: @escaping @Sendable () -> Bool, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result {
        try read { try $0.limited(goesOn, body) }
    }

    // MARK: Commits

    /// Differs after each commit; nil while one is under way. What is read later is as new as this moment, or newer.
    package var settledMoment: UInt64? {
        let now = moment.load(ordering: .sequentiallyConsistent)
        return holdsSnapshots && now.isMultiple(of: 2) ? now : nil
    }

    /// Call it before a commit of the one writer. May be called again before `endCommit`.
    package func beginCommit() {
        if moment.load(ordering: .relaxed).isMultiple(of: 2) { moment.add(1, ordering: .sequentiallyConsistent) }
    }

    /// Call it after a commit, also one that failed, and before its callers go on; and after a checkpoint, because the log
    /// starts from its beginning only when no snapshot of it is held.
    package func endCommit() {
        beginCommit()
        moment.add(1, ordering: .sequentiallyConsistent)
        // A connection in use does it itself.
        for seat in seats {
            _ = seat.state.withLockIfAvailable { state in
                if case .open(let connection) = state { connection.letGo() }
            }
        }
    }

    /// Waits for running reads; nothing can be read afterwards.
    package func close() {
        for seat in seats { seat.state.withLock { $0 = .closed } }
    }

    private func run<Result: Sendable>(
        _ body: @Sendable (ReadConnection) throws -> Result, _ state: inout Seat.State
    ) throws -> Result {
        do {
            let connection = try connection(of: &state)
            // Before the snapshot begins, which may be newer.
            let now = moment.load(ordering: .sequentiallyConsistent)
            guard holdsSnapshots, now.isMultiple(of: 2) else {
                connection.letGo()
                return try body(connection)
            }
            try connection.hold(asOf: now)
            defer { if moment.load(ordering: .sequentiallyConsistent) != now { connection.letGo() } }
            return try body(connection)
        } catch let error as ReadTakesLong {
            throw error
        } catch {
            throw damage.classified(error)
        }
    }

    private func connection(of state: inout Seat.State) throws -> ReadConnection {
        switch state {
        case .open(let connection): return connection
        case .unopened:
            let connection = try ReadConnection(path: path)
            connection.allowViews()
            state = .open(connection)
            return connection
        case .closed: throw CacheError.unwritable("the database is closed")
        }
    }
}

/// A read has taken longer than it may: `goesOn` of `ReaderPool.read` was false.
package struct ReadTakesLong: Error {
    package init() {}
}
