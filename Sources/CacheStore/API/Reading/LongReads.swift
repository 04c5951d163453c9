internal import SQLiteStore

/// Reads that may take long, away from the threads that serve everybody: two lists and one other read at a time. Callers take turns.
final class LongReads: Sendable {
    private let readers: ReaderPool
    private let lists = FairThreads("long-reads", count: 2)
    private let others = FairThreads("other-reads", count: 1)
    private let space: @Sendable () -> DiskSpace?

    /// `space`: of the disk where sorts have their files.
    init(path: String, damage: DamageWatch, space: (@Sendable () -> DiskSpace?)? = nil) {
        self.space = space ?? { DiskSpace(beside: path) }
        readers = ReaderPool(path: path, damage: damage, count: 2, first: nil, holdsSnapshots: false)
    }

    /// Throws a `CacheError` for every error of SQLite, `.unwritable` when a sort takes what writes need of the disk, and
    /// `CancellationError` soon after the task is cancelled.
    func read<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable (ReadConnection) throws -> Result
    ) async throws -> Result {
        try await lists.result(for: caller) { [self] isCancelled in try read(until: isCancelled, body) }
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

    private func read<Result: Sendable>(
        until isCancelled: CancellationFlag, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result {
        // Its caller may have gone while it waited.
        guard !isCancelled.isSet else { throw CancellationError() }
        let room = SortRoom(space)
        do {
            return try readers.read(while: { !isCancelled.isSet && room.isLeft() }, body)
        } catch is ReadTakesLong {
            guard room.isTaken else { throw CancellationError() }
            throw CacheError.unwritable(
                "the disk has too little room for the file of this sort; free some space, ask for fewer records, or sort by a field "
                    + "with an index")
        }
    }
}
