import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import LocalAPIServer
import Logging
import ResidentMemory
internal import SQLiteStore
import ServiceManager
import SocketServer

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the daemon in the foreground.",
        discussion: "SIGHUP reloads the configuration and schema; SIGTERM and SIGINT stop the daemon.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // A closed log pipe must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        ResidentMemory.limitHeaps()
        SQLiteLibrary.stopCountingMemory()
        var environment = Environment.ofThisProcess()
        let inherited = InheritedSockets(environment: environment.variables, pid: getpid())
        let notifier = ServiceNotifier(environment: environment.variables)
        do {
            environment.inheritedSocket = ListeningSockets.paths(of: inherited.descriptors).first
            let reader = options.setupReader(environment: environment)
            try await Daemon(
                try reader.setup(), host: host(environment, notifier, inherited), reread: { try reader.setup() }
            ).run()
        } catch {
            let failure = CommandFailure(any: error)
            // The service manager does not restart it, unless a caller waits.
            if failure?.status == .badConfiguration { inherited.closeWaiting() }
            // systemctl shows it next to the exit status while the service is down.
            notifier.send(.status(failure?.message ?? "\(error)"))
            throw error
        }
    }

    private func host(
        _ environment: Environment, _ notifier: ServiceNotifier, _ inherited: InheritedSockets
    ) -> DaemonHost {
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
        let start = ContinuousClock.now
        let isJournal = StandardStream.error.isJournal(environment: environment.variables)
        return DaemonHost(
            notifier: notifier, inherited: inherited.descriptors,
            watchdogInterval: Watchdog.interval(environment: environment.variables, pid: getpid()),
            startedAt: now(), metrics: Metrics(uptime: { start.duration(to: .now) }), now: now,
            monotonic: Self.monotonicTime, schemas: SchemaFinder(environment: environment)
        ) { log, label in
            Logger(label: label) { label in
                LineLogHandler(
                    label: label, level: log.level,
                    style: LineLogHandler.Style(format: log.format, isJournal: isJournal), now: now,
                    write: StandardStream.error.write)
            }
        }
    }

    /// The clock that service managers use (CLOCK_MONOTONIC).
    @Sendable private static func monotonicTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
