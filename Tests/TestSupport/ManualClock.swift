package import EntitySchema
import Synchronization

/// A clock that stands still until the test moves it; a sleeper wakes when its time has come.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper {
        var id: Int
        var until: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// How far the time of day has been set.
        var jump = Duration.zero
        var nextID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
    }

    private struct Watcher {
        var isReady: @Sendable ([Instant]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .milliseconds(1) }

    /// The time of day that goes with this clock.
    package var timestamp: Timestamp { state.withLock { .sample + $0.now.offset + $0.jump } }

    /// Sets the time of day, which wakes no sleeper.
    package func set(by jump: Duration) { state.withLock { $0.jump += jump } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers.append(Sleeper(id: id, until: deadline, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
                notifyWatchers()
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

    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns once at least `count` tasks sleep: the code under test has nothing left to do but wait.
    package func waitForSleepers(_ count: Int) async { await wait { $0.count >= count } }

    /// Returns once a task sleeps for exactly `duration`, and wakes that task alone; the time stays as it is.
    package func passSleep(of duration: Duration) async {
        while true {
            let sleeper = state.withLock { state -> Sleeper? in
                let end = state.now.advanced(by: duration)
                return state.sleepers.firstIndex { $0.until == end }.map { state.sleepers.remove(at: $0) }
            }
            if let sleeper { return sleeper.continuation.resume() }
            let end = now.advanced(by: duration)
            await wait { $0.contains(end) }
        }
    }

    private func wait(until isReady: @escaping @Sendable ([Instant]) -> Bool) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.watchers.append(Watcher(isReady: isReady, continuation: continuation)) }
            notifyWatchers()
        }
    }

    private func notifyWatchers() {
        let ready = state.withLock { state in
            let ends = state.sleepers.map(\.until)
            let ready = state.watchers.filter { $0.isReady(ends) }
            state.watchers.removeAll { $0.isReady(ends) }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }
}
