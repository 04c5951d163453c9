import EntitySchema
import Synchronization
import TestSupport

/// One machine's clocks: a monotonic one to sleep on, and a time of day that can jump.
final class SimulatedClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    /// The true time when a simulation begins.
    static let beginning = Timestamp.sample

    private let executor: SimulatedExecutor
    /// The error of the time of day.
    private let error: Mutex<Duration>

    init(executor: SimulatedExecutor, error: Duration) {
        self.executor = executor
        self.error = Mutex(error)
    }

    var now: Instant { Instant(offset: executor.now) }
    var minimumResolution: Duration { .milliseconds(1) }

    var timeOfDay: Timestamp { Self.beginning + executor.now + error.withLock { $0 } }

    func jump(by duration: Duration) { error.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let wait = SimulatedWait(executor: executor)
        try await wait.wait(for: deadline.offset - executor.now)
    }
}

/// A wait that ends after its time or when its task is cancelled, whichever comes first.
final class SimulatedWait: Sendable {
    private enum State {
        case new
        case cancelled
        case waiting(timer: Int, CheckedContinuation<Void, any Error>)
        case over
    }

    private let executor: SimulatedExecutor
    private let state = Mutex(State.new)

    init(executor: SimulatedExecutor) {
        self.executor = executor
    }

    func wait(for duration: Duration) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if case .cancelled = state { return true }
                    let timer = executor.after(duration) { self.finish { $0.resume() } }
                    state = .waiting(timer: timer, continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            finish { $0.resume(throwing: CancellationError()) }
        }
    }

    private func finish(_ resume: (CheckedContinuation<Void, any Error>) -> Void) {
        let before = state.withLock { state in
            let before = state
            if case .new = before { state = .cancelled } else if case .waiting = before { state = .over }
            return before
        }
        guard case .waiting(let timer, let continuation) = before else { return }
        _ = executor.cancel(timer: timer)
        resume(continuation)
    }
}
