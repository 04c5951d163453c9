import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import LocalAPIServer
import Logging
import ResidentMemory
import ServiceManager

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the daemon in the foreground until it is told to stop.",
        discussion: "SIGHUP makes it read configuration and schema anew; SIGTERM and SIGINT end it.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // A log that nobody reads any more must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        ResidentMemory.limitHeaps()
        let environment = Environment.ofThisProcess()
        let notifier = ServiceNotifier(environment: environment.variables)
        do {
            let reader = options.setupReader(environment: environment)
            try await Daemon(
                try reader.setup(), host: host(environment, notifier), reread: { try reader.setup() }
            ).run()
        } catch {
            // Shown beside the exit status for as long as the service is down.
            notifier.send(.status(CommandFailure(any: error)?.message ?? "\(error)"))
            throw error
        }
    }

    private func host(_ environment: Environment, _ notifier: ServiceNotifier) -> DaemonHost {
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
        let start = ContinuousClock.now
        let isJournal = StandardStream.error.isJournal(environment: environment.variables)
        return DaemonHost(
            notifier: notifier,
            watchdogInterval: Watchdog.interval(environment: environment.variables, pid: getpid()),
            startedAt: now(), metrics: Metrics(uptime: { start.duration(to: .now) }), now: now,
            monotonic: Self.monotonicTime
        ) { log, label in
            Logger(label: label) { label in
                LineLogHandler(
                    label: label, level: log.level,
                    style: LineLogHandler.Style(format: log.format, isJournal: isJournal), now: now,
                    write: StandardStream.error.write)
            }
        }
    }

    /// What service managers compare times by.
    @Sendable private static func monotonicTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
