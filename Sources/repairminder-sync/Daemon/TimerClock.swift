import Dispatch
import Synchronization

/// The continuous clock with sleeps that free everything when cancelled.
///
/// `ContinuousClock` keeps a cancelled sleep and its task until the deadline. The wait for the next sync is cancelled
/// at every local write, and each would leave one behind.
struct TimerClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { .now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Throws `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.sleep($0, for: now.duration(to: deadline)) }
        } onCancel: {
            sleeper.wake(.failure(CancellationError()))
        }
    }
}

/// One sleep: ends once, by its timer or earlier.
private final class Sleeper: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var continuation: CheckedContinuation<Void, any Error>?
        /// Set when `wake` is called before `sleep`.
        var outcome: Result<Void, any Error>?
    }

    private let state = Mutex(State())

    func sleep(_ continuation: CheckedContinuation<Void, any Error>, for duration: Duration) {
        let early = state.withLock { state -> Result<Void, any Error>? in
            if let outcome = state.outcome { return outcome }
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + .milliseconds(Self.milliseconds(duration)))
            timer.setEventHandler { self.wake(.success(())) }
            state.timer = timer
            state.continuation = continuation
            timer.activate()
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    func wake(_ outcome: Result<Void, any Error>) {
        let continuation = state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            if state.outcome == nil { state.outcome = outcome }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }

    /// Rounded up, so the sleep is never too short.
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = max(duration, .zero).components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
