internal import Synchronization

/// Wakes those who wait for something to change: a commit of a store, above all.
///
/// Nobody is told of what; whoever wakes looks, at the change log for one. Costs a commit one lock, and a write nothing.
package final class ChangeSignal: Sendable {
    private struct State {
        var commits: UInt64 = 0
        var isClosed = false
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Taken before the log is read: what is committed after that ends a wait at once.
    package var commits: UInt64 { state.withLock { $0.commits } }

    /// Nobody waits any more: the store, or whoever serves from it, is about to end.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns when something has been committed since there were `commits`, when the signal is closed, or when the task
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

    /// Ends all waits, now and from now on.
    package func close() { wakeAll { $0.isClosed = true } }

    /// Called after each commit, or whatever else those who wait are to look at.
    package func announce() { wakeAll { $0.commits += 1 } }

    /// How many wait.
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
