import Synchronization

/// A clock on which every sleep is over at once and moves the time, and which records how long each sleep was.
///
/// After `stop()`, a sleep ends only with the cancellation of its task.
package final class SkippingClock: Clock, Sendable {
    package typealias Instant = ContinuousClock.Instant

    private struct State {
        var elapsed = Duration.zero
        var sleeps: [Duration] = []
        var stops = false
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let started = AsyncStream.makeStream(of: Void.self)

    package init() {}

    package var now: Instant { start + state.withLock { $0.elapsed } }
    package var minimumResolution: Duration { .nanoseconds(1) }
    package var sleeps: [Duration] { state.withLock { $0.sleeps } }

    package func stop() { state.withLock { $0.stops = true } }

    /// Returns when the next sleep has begun.
    package func sleepBegins() async {
        for await _ in started.stream { return }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let stops = state.withLock { state in
            let length = deadline - (start + state.elapsed)
            state.sleeps.append(length)
            if !state.stops { state.elapsed += length }
            return state.stops
        }
        started.continuation.yield()
        guard stops else { return }
        // This clock never moves again, so only cancellation ends the wait.
        await untilCancelled()
        try Task.checkCancellation()
    }
}
