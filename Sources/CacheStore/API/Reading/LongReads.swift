internal import Dispatch
internal import SQLiteStore
internal import Synchronization

/// Reads that may take long, away from the threads that serve everybody: two lists and one other read at a time.
final class LongReads: Sendable {
    private let readers: ReaderPool
    private let queues = (1...2).map { DispatchQueue(label: "long-reads-\($0)") }
    /// How many reads each queue has.
    private let counts = Mutex([0, 0])
    private let others = DispatchQueue(label: "other-reads")

    init(path: String, damage: DamageWatch) {
        readers = ReaderPool(path: path, damage: damage, count: 2, first: nil, holdsSnapshots: false)
    }

    /// Throws a `CacheError` for every error of SQLite, and `CancellationError` soon after the task is cancelled.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (ReadConnection) throws -> Result
    ) async throws -> Result {
        try await run(onQueue) { [readers] isCancelled in try Self.read(readers, until: isCancelled, body) }
    }

    /// Runs a read that needs none of these connections, one at a time, so that long lists do not keep it waiting. Throws
    /// `CancellationError` if the task is cancelled before the read begins.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await run({ others.async(execute: $0) }) { isCancelled in
            guard !isCancelled.isSet else { throw CancellationError() }
            return try body()
        }
    }

    private func run<Result: Sendable>(
        _ start: (@escaping @Sendable () -> Void) -> Void,
        _ body: @escaping @Sendable (_ isCancelled: Flag) throws -> Result
    ) async throws -> Result {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                start { continuation.resume(with: Swift.Result { try body(isCancelled) }) }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// Waits for running reads; nothing can be read afterwards.
    func close() { readers.close() }

    private static func read<Result: Sendable>(
        _ readers: ReaderPool, until isCancelled: Flag, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result {
        // Its caller may have gone while it waited.
        guard !isCancelled.isSet else { throw CancellationError() }
        do {
            return try readers.read(while: { !isCancelled.isSet }, body)
        } catch is ReadTakesLong {
            throw CancellationError()
        }
    }

    private func onQueue(_ work: @escaping @Sendable () -> Void) {
        let index = counts.withLock { counts in
            let index = counts[0] <= counts[1] ? 0 : 1
            counts[index] += 1
            return index
        }
        queues[index].async { [self] in
            work()
            counts.withLock { $0[index] -= 1 }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
