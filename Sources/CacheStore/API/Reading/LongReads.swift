internal import SQLiteStore

/// Reads that may take long, away from the threads that serve everybody: two lists and one other read at a time. Callers take turns.
final class LongReads: Sendable {
    private let readers: ReaderPool
    private let lists = FairThreads("long-reads", count: 2)
    private let others = FairThreads("other-reads", count: 1)

    init(path: String, damage: DamageWatch) {
        readers = ReaderPool(path: path, damage: damage, count: 2, first: nil, holdsSnapshots: false)
    }

    /// Throws a `CacheError` for every error of SQLite, and `CancellationError` soon after the task is cancelled.
    func read<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable (ReadConnection) throws -> Result
    ) async throws -> Result {
        try await lists.result(for: caller) { [readers] isCancelled in try Self.read(readers, until: isCancelled, body)
        }
    }

    /// Runs a read that needs none of these connections, one at a time, so that long lists do not keep it waiting. Throws
    /// `CancellationError` if the task is cancelled before the read begins.
    func run<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await others.result(for: caller) { isCancelled in
            guard !isCancelled.isSet else { throw CancellationError() }
            return try body()
        }
    }

    /// Waits for running reads; nothing can be read afterwards.
    func close() { readers.close() }

    private static func read<Result: Sendable>(
        _ readers: ReaderPool, until isCancelled: CancellationFlag, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result {
        // Its caller may have gone while it waited.
        guard !isCancelled.isSet else { throw CancellationError() }
        do {
            return try readers.read(while: { !isCancelled.isSet }, body)
        } catch is ReadTakesLong {
            throw CancellationError()
        }
    }
}
