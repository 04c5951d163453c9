/// The callers that wait for the end of a run.
struct SyncWaiters: Sendable {
    private struct Waiter: Sendable {
        /// The number of the run that does what was asked for.
        var run: Int
        var continuation: CheckedContinuation<Result<Void, SyncError>, Never>
    }

    private var waiters: [Waiter] = []
    /// Why the engine no longer runs; nil while it does.
    private(set) var ended: SyncError?

    mutating func add(
        _ continuation: CheckedContinuation<Result<Void, SyncError>, Never>, for run: Int
    ) {
        waiters.append(Waiter(run: run, continuation: continuation))
    }

    func isAwaited(_ run: Int) -> Bool { waiters.contains { $0.run <= run } }

    /// Resumes the callers that wait for runs up to this number.
    mutating func finish(_ result: Result<Void, SyncError>, through number: Int) {
        for waiter in waiters where waiter.run <= number { waiter.continuation.resume(returning: result) }
        waiters.removeAll { $0.run <= number }
    }

    /// Fails all callers, present and future: the engine no longer runs.
    mutating func end(_ reason: SyncError) {
        ended = reason
        finish(.failure(reason), through: .max)
    }
}
