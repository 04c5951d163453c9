internal import Synchronization

/// Work of which nobody knows how long it takes: while it goes on, the service manager is asked for patience.
package final class LongWork: Sendable {
    private struct State {
        var toldAt: Duration?
        var isCancelled = false
    }

    /// Between two messages.
    private static let pause = Duration.seconds(5)
    /// Granted by each message; work that stands still for longer is given up on by the manager.
    private static let patience = Duration.seconds(60)

    private let notifier: ServiceNotifier
    private let what: String
    private let monotonic: @Sendable () -> Duration
    private let state = Mutex(State())

    /// `what` becomes the status that people see.
    package init(_ what: String, notifier: ServiceNotifier, monotonic: @escaping @Sendable () -> Duration) {
        self.what = what
        self.notifier = notifier
        self.monotonic = monotonic
    }

    /// To be called again and again while the work goes on, from any thread. False when it is to be given up.
    package func shouldContinue() -> Bool {
        let now = monotonic()
        let (tells, isCancelled) = state.withLock { state in
            guard !state.isCancelled else { return (false, true) }
            if let last = state.toldAt, now - last < Self.pause { return (false, false) }
            state.toldAt = now
            return (true, false)
        }
        if tells { notifier.send(.status(what), .extendTimeout(Self.patience), .watchdog) }
        return !isCancelled
    }

    package func cancel() { state.withLock { $0.isCancelled = true } }
}
