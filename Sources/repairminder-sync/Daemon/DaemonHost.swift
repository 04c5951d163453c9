import EntitySchema
import LocalAPIServer
import Logging
import ServiceManager

/// What a daemon has of its process and machine; it stays the same through every configuration.
struct DaemonHost: Sendable {
    let notifier: ServiceNotifier
    /// Between two signs of life; nil where the service manager wants none.
    let watchdogInterval: Duration?
    let startedAt: Timestamp
    let metrics: Metrics
    let now: @Sendable () -> Timestamp
    /// The kernel's monotonic clock.
    let monotonic: @Sendable () -> Duration
    /// Makes the logger of one part, named in each of its lines.
    let logger: @Sendable (_ log: Configuration.Log, _ label: String) -> Logger
}
