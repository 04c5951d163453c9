internal import Synchronization

/// Wakes tasks that wait for a change, usually a commit of a store.
///
/// The signal does not say what changed: a woken task looks for itself, for example in the change log. A commit pays
/// for one lock, a write for nothing.
package final class ChangeSignal: Sendable {
    private struct State {
        var commits: UInt64 = 0
        var isClosed = false
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Take this before reading the log: a commit after that ends the wait at once.
    package var commits: UInt64 { state.withLock { $0.commits } }

    /// True once no task should wait any more, because the store or its server is shutting down.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns when there is a commit beyond the given number of `commits`, when the signal is closed, or when the task
    /// is cancelled.
    package func wait(after commits: UInt64) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.commits != commits || state.isClosed || Task.isCancelled { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// Calls `look` now and after each commit, until the signal is closed or the task is cancelled.
    package func follow(_ look: () async -> Void) async {
        while !Task.isCancelled, !isClosed {
            let commits = self.commits
            await look()
            await wait(after: commits)
        }
    }

    /// Ends all current and future waits.
    package func close() { wakeAll { $0.isClosed = true } }

    /// Call this after each commit, and after anything else that waiting tasks should look at.
    package func announce() { wakeAll { $0.commits += 1 } }

    /// The number of waiting tasks.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    private func wakeAll(_ change: (inout State) -> Void) {
        let woken = state.withLock { state -> [UInt64: CheckedContinuation<Void, Never>] in
            change(&state)
            guard !state.waiters.isEmpty else { return [:] }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for continuation in woken.values { continuation.resume() }
    }
}
