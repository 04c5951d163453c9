import EntitySchema
import Glibc
import LocalAPIServer
import Logging
import ResidentMemory
import SQLiteStore
import ServiceManager
import SocketServer
import SyncEngine

/// What the daemon uses of its process and machine; a reload does not change it.
struct DaemonHost: Sendable {
    let notifier: ServiceNotifier
    /// The descriptors of listening sockets that the service manager opened.
    let inherited: [Int32]
    /// The time between watchdog signals; nil when the service manager wants none.
    let watchdogInterval: Duration?
    let startedAt: Timestamp
    let machine: MachineIdentity
    let metrics: Metrics
    let pause = Published(false)
    let now: @Sendable () -> Timestamp
    /// The time of the kernel's monotonic clock.
    let monotonic: @Sendable () -> Duration
    /// Finds the other schemas, of which one may fit an upstream better.
    let schemas: SchemaFinder
    /// Called each time that a service accepts callers, with their addresses.
    let ready: @Sendable ([BoundAddress]) -> Void
    /// Creates the logger of one component; its label is part of every line.
    let logger: @Sendable (_ log: Configuration.Log, _ label: String) -> Logger
}

extension DaemonHost {
    /// Prepares this process for a daemon; before anything else uses SQLite.
    static func prepareProcess() {
        // A closed log pipe must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        ResidentMemory.limitHeaps()
        SQLiteLibrary.stopCountingMemory()
    }

    /// The host that this process is. `write` is called with each complete line of the log, from any thread.
    static func ofThisProcess(
        _ environment: Environment, notifier: ServiceNotifier, inherited: [Int32] = [],
        write: @escaping @Sendable (String) -> Void, ready: @escaping @Sendable ([BoundAddress]) -> Void = { _ in }
    ) -> DaemonHost {
        let now = StateFiles.now
        let start = ContinuousClock.now
        let isJournal = StandardStream.error.isJournal(environment: environment.variables)
        return DaemonHost(
            notifier: notifier, inherited: inherited,
            watchdogInterval: Watchdog.interval(environment: environment.variables, pid: getpid()),
            startedAt: now(), machine: .ofThisMachine(), metrics: Metrics(uptime: { start.duration(to: .now) }),
            now: now,
            monotonic: Duration.ofMonotonicClock, schemas: SchemaFinder(environment: environment), ready: ready
        ) { log, label in
            Logger(label: label) { label in
                LineLogHandler(
                    label: label, level: log.level,
                    style: LineLogHandler.Style(format: log.format, isJournal: isJournal), now: now, write: write)
            }
        }
    }
}
