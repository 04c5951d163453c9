internal import Synchronization

/// Tracks whether a loop still moves: it is stuck when its next sign of life is overdue.
final class Heartbeat: Sendable {
    private let stopwatch: Stopwatch
    /// The longest that a single piece of the loop's work may take.
    private let patience: Duration
    private let due = Mutex<Duration?>(nil)

    init(clock: some Clock<Duration>, patience: Duration) {
        stopwatch = Stopwatch(clock)
        self.patience = patience
    }

    /// The loop began or ended something.
    func beat() { due.withLock { $0 = stopwatch.duration + patience } }

    /// The loop goes to sleep for this long; nil means until it is woken.
    func sleep(for duration: Duration?) { due.withLock { $0 = duration.map { stopwatch.duration + $0 + patience } } }

    /// True before the first beat.
    var isMoving: Bool { due.withLock { $0.map { stopwatch.duration <= $0 } ?? true } }
}

/// Measures elapsed time by a clock that cannot be set.
struct Stopwatch: Sendable {
    private let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    var duration: Duration { elapsed() }
}
