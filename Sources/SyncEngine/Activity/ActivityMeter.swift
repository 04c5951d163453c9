internal import CacheStore
internal import Synchronization

/// Counts what the daemon does between two looks at it.
package final class ActivityMeter: Sendable {
    private struct State {
        var work = ActivityWork()
        /// Since when the upstream cannot be reached; nil while it can.
        var lost: Duration?

        mutating func count(until now: Duration) {
            guard let lost else { return }
            work.unreachable += now - lost
            self.lost = now
        }
    }

    private let state = Mutex(State())
    private let monotonic: @Sendable () -> Duration

    /// `monotonic` is the time since a fixed moment.
    package init(monotonic: @escaping @Sendable () -> Duration) {
        self.monotonic = monotonic
    }

    /// For the engine.
    package func note(_ measurement: SyncMeasurement) {
        switch measurement {
        case .sync(let duration):
            state.withLock { state in
                state.work.syncs += 1
                state.work.syncTime += duration
            }
        case .reachability(let isReachable):
            let now = monotonic()
            state.withLock { state in
                state.count(until: now)
                state.lost = isReachable ? nil : now
            }
        case .push, .pull, .pulled, .signal: break
        }
    }

    /// One request to the upstream has ended; `status` is nil if no complete answer came.
    package func noteRequest(status: Int?) {
        guard let result = RequestResult(status: status) else { return }
        state.withLock { $0.work.requests[result, default: 0] += 1 }
    }

    /// What was counted since the last call.
    func take() -> ActivityWork {
        let now = monotonic()
        return state.withLock { state in
            state.count(until: now)
            defer { state.work = ActivityWork() }
            return state.work
        }
    }
}
