internal import Synchronization

/// Tells whether a loop still moves: by when it is to be heard of again, and whether that has passed.
final class Heartbeat: Sendable {
    private let stopwatch: Stopwatch
    /// The longest that the loop's owner knows a single piece of work to take.
    private let patience: Duration
    private let due = Mutex<Duration?>(nil)

    init(clock: some Clock<Duration>, patience: Duration) {
        stopwatch = Stopwatch(clock)
        self.patience = patience
    }

    /// The loop has begun or ended something.
    func beat() { due.withLock { $0 = stopwatch.duration + patience } }

    /// The loop lies down for so long; nil until it is called.
    func rest(for duration: Duration?) { due.withLock { $0 = duration.map { stopwatch.duration + $0 + patience } } }

    /// True before the first beat.
    var isMoving: Bool { due.withLock { $0.map { stopwatch.duration <= $0 } ?? true } }
}
