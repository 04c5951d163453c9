import CacheStore
import EntitySchema
import Foundation
import Glibc
import LocalAPIServer
import Logging
internal import SQLiteStore
import ServiceManager
import SocketServer
import SyncEngine
import UnixSignals

/// Keeps one service going from the start to the signal that ends it: through new configurations and other accounts.
///
/// The listening sockets are its own, so that callers queue while one service hands over to the next.
actor Daemon {
    private let host: DaemonHost
    private let reread: @Sendable () throws -> Setup
    /// What is served with.
    private var setup: Setup
    /// What takes over when the service under way has ended.
    private var next: Setup?
    /// What worked before `setup`, which has not become ready yet.
    private var previous: Setup?
    /// Why what was read last is not in force.
    private var refusal: String?
    private var sockets = ListeningSockets()
    private var serving: Task<Void, any Error>?
    private var opening: LongWork?
    private let news = ChangeSignal()

    /// `reread` reads the files that `setup` came from.
    init(_ setup: Setup, host: DaemonHost, reread: @escaping @Sendable () throws -> Setup) {
        self.setup = setup
        self.host = host
        self.reread = reread
    }

    private var log: Logger { host.logger(setup.configuration.log, "daemon") }

    /// Returns after SIGTERM or SIGINT, with what was in flight finished and the queue kept.
    func run() async throws {
        for warning in setup.configuration.warnings { log.warning("\(warning)") }
        let lock = try StateDirectory(setup).lock()
        defer { lock.release() }
        // Trapped from the start, so that no signal finds its default action.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        defer { sockets.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow(signals) }
            group.addTask { try await self.serveOn() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Signals

    private func follow(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            guard signal == .sighup else {
                log.notice("stopping", metadata: ["signal": "\(signal)"])
                host.notifier.send(.stopping, .status("stopping"))
                sockets.close()
                serving?.cancel()
                opening?.cancel()
                return
            }
            reload()
        }
    }

    /// Reads everything anew and lets it take over; what cannot be used changes nothing.
    private func reload() {
        host.notifier.send(.reloading(since: host.monotonic()), .status("reading the configuration anew"))
        giveSignOfLife()
        do {
            let new = try reread()
            guard new.configuration.stateDirectory == setup.configuration.stateDirectory else {
                throw ConfigurationError(
                    place: "state_dir",
                    problem: "it is another now, \(new.configuration.stateDirectory), which takes a restart")
            }
            try sockets.change(to: new.listeners)
            next = new
            refusal = nil
            log.notice("the configuration was read anew")
            for warning in new.configuration.warnings { log.warning("\(warning)") }
            serving?.cancel()
        } catch {
            refuse(error)
            host.notifier.send(.ready)
        }
    }

    private func refuse(_ error: any Error) {
        let reason = CommandFailure(any: error)?.message ?? "\(error)"
        log.error("the new configuration is refused and the old one stays in force", metadata: ["error": "\(reason)"])
        refusal = reason
        host.notifier.send(.status("the new configuration is refused: \(reason)"))
        news.announce()
    }

    // MARK: Serving

    /// Serves with one setup and one account after the other; returns when cancelled.
    private func serveOn() async throws {
        while !Task.isCancelled {
            do {
                try await serve()
                guard !Task.isCancelled, let new = next.take() else { return }
                previous = previous ?? setup
                setup = new
            } catch SyncError.otherAccount(let account) {
                log.warning(
                    "the token belongs to another account; going on with its own cache",
                    metadata: ["account": "\(account)"])
                try StateDirectory(setup).use(account: account)
            } catch {
                guard let working = previous.take() else { throw error }
                refuse(error)
                setup = working
            }
        }
    }

    private func serve() async throws {
        giveSignOfLife()
        let opening = LongWork("preparing the database", notifier: host.notifier, monotonic: host.monotonic)
        self.opening = opening
        let service = Service(
            setup: setup, host: host, listeners: { try await self.listen() },
            ready: { await self.noteReady() }, refusal: { await self.refusal }, news: news)
        let task = Task { try await service.run(opening) }
        serving = task
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        // What a service says that was told to end matters to nobody: another takes over, or none.
        if !task.isCancelled { try result.get() }
    }

    /// Between two services no watchdog runs.
    private func giveSignOfLife() {
        if host.watchdogInterval != nil { host.notifier.send(.watchdog) }
    }

    private func listen() throws -> [Listener] {
        try sockets.change(to: setup.listeners)
        return try sockets.forServer()
    }

    private func noteReady() {
        previous = nil
        if !host.notifier.send(.ready) {
            log.warning("the service manager could not be told that this is ready; check NOTIFY_SOCKET")
        }
    }
}

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
