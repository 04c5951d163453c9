internal import Synchronization

/// Work of unknown duration: while it makes progress, the service manager is asked to extend its timeout.
package final class LongWork: Sendable {
    private struct State {
        var notifiedAt: Duration?
        var isCancelled = false
        var reached: String?
    }

    /// The time between messages.
    private static let pause = Duration.seconds(5)
    /// The extension that each message asks for; the service manager ends work that stalls for longer.
    private static let extensionTime = Duration.seconds(60)

    private let notifier: ServiceNotifier
    private let what: String
    private let monotonic: @Sendable () -> Duration
    private let state = Mutex(State())

    /// `what` is shown as the service's status.
    package init(_ what: String, notifier: ServiceNotifier, monotonic: @escaping @Sendable () -> Duration) {
        self.what = what
        self.notifier = notifier
        self.monotonic = monotonic
    }

    /// Call it repeatedly while the work progresses, from any thread. False when the work should be cancelled.
    package func shouldContinue() -> Bool {
        let now = monotonic()
        let (notifies, reached, isCancelled) = state.withLock { state in
            guard !state.isCancelled else { return (false, state.reached, true) }
            if let last = state.notifiedAt, now - last < Self.pause { return (false, state.reached, false) }
            state.notifiedAt = now
            return (true, state.reached, false)
        }
        if notifies {
            let status = reached.map { "\(what): \($0)" } ?? what
            notifier.send(.status(status), .extendTimeout(Self.extensionTime), .watchdog)
        }
        return !isCancelled
    }

    /// Says how far the work is; shown with the next message.
    package func note(_ reached: String) { state.withLock { $0.reached = reached } }

    package func cancel() { state.withLock { $0.isCancelled = true } }
}
