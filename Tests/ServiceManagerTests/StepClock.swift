import Synchronization

/// A clock that moves when the test lets it; sleeps wait until then, in the order in which they began.
final class StepClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Sleeper {
        var id: Int
        var duration: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var nextID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let begun = AsyncStream.makeStream(of: Void.self)

    var now: Instant { start }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers.append(
                        Sleeper(id: id, duration: start.duration(to: deadline), continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                begun.continuation.yield()
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits for a sleep of this duration, then ends it.
    func passSleep(of duration: Duration) async {
        while true {
            let sleeper = state.withLock { state -> Sleeper? in
                state.sleepers.firstIndex { $0.duration == duration }.map { state.sleepers.remove(at: $0) }
            }
            if let sleeper { return sleeper.continuation.resume() }
            for await _ in begun.stream { break }
        }
    }
}
