import Dispatch
import Glibc

/// Ends this process some seconds after a signal has asked for that, if it is still there by then.
///
/// A call of libpq blocks until PostgreSQL answers, and nothing can cancel it: a lock that another user of the database holds
/// would keep a feed running. PostgreSQL rolls back what is not committed. This is no task, because such a call may block the
/// only thread that tasks have.
struct LateEnd {
    private let sources: [any DispatchSourceSignal]

    /// `end` is called on another thread.
    init(after signals: [Int32], _ patience: DispatchTimeInterval = .seconds(5), end: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "late-end")
        sources = signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler { queue.asyncAfter(deadline: .now() + patience) { end() } }
            source.activate()
            return source
        }
    }

    func cancel() { for source in sources { source.cancel() } }
}
