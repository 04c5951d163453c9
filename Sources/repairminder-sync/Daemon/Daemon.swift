import CacheStore
import EntitySchema
import Foundation
import Glibc
import LocalAPIServer
import Logging
import SQLiteStore
import ServiceManager
import SocketServer
import SyncEngine
import UnixSignals

/// Runs one service after another until a signal ends it: a reload or another account starts the next service.
///
/// The daemon owns the listening sockets, so callers queue while one service hands over to the next.
actor Daemon {
    private let host: DaemonHost
    private let reread: @Sendable () throws -> Setup
    /// The setup in use.
    private var setup: Setup
    /// The setup that takes over when the running service has ended.
    private var next: Setup?
    /// The last working setup while `setup` is not ready yet.
    private var previous: Setup?
    /// Why the configuration read last was rejected; nil while it is in use.
    private let rejection = Published<String?>(nil)
    private var sockets = ListeningSockets()
    private var webhookSockets = ListeningSockets()
    /// Those of the service manager that were reported as not used.
    private var unusedAddresses: [BoundAddress] = []
    private var serving: Task<Void, any Error>?
    private var opening: LongWork?
    private var isStopping = false
    private let statusChanged = ChangeSignal()
    /// Announces requests to reload; those that come during a reload count as one.
    private let reloadAsked = ChangeSignal()

    /// `reread` reads the files of `setup` again.
    init(_ setup: Setup, host: DaemonHost, reread: @escaping @Sendable () throws -> Setup) {
        self.setup = setup
        self.host = host
        self.reread = reread
    }

    private var log: Logger { host.logger(setup.configuration.log, "daemon") }

    /// Returns after SIGTERM or SIGINT, once requests in flight have finished; the queue is kept.
    func run() async throws {
        for warning in setup.configuration.warnings { log.warning("\(warning)") }
        if setup.configuration.file == nil {
            let needsSignIn = !setup.schema.upstream.login.isEmpty && setup.configuration.upstream.tokenFile == nil
            let signIn = needsSignIn ? "to sign in, run repairminder-sync login; " : ""
            log.notice(
                "\(signIn)no configuration file: flags, environment and defaults count",
                metadata: ["schema": "\(setup.schema.name)", "state_dir": "\(setup.configuration.stateDirectory)"])
        }
        sockets = try ListeningSockets(inherited: host.inherited)
        webhookSockets = try ListeningSockets(inherited: host.inherited)
        let lock = try StateDirectory(setup).lock()
        defer { lock.release() }
        SQLiteLibrary.keepTemporaryFiles(in: setup.configuration.stateDirectory)
        // Trapped from the start, so no signal triggers its default action.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        defer { closeSockets() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow(signals) }
            group.addTask { await self.keepReloading() }
            group.addTask { try await self.serveUntilStopped() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Signals

    /// Not on the actor: a signal to stop must not wait behind reloads.
    private nonisolated func follow(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            guard signal == .sighup else { return await stop(at: signal) }
            reloadAsked.announce()
        }
    }

    private func stop(at signal: UnixSignal) {
        isStopping = true
        log.notice("stopping", metadata: ["signal": "\(signal)"])
        host.notifier.send(.stopping, .status("stopping"))
        closeSockets()
        serving?.cancel()
        opening?.cancel()
    }

    /// Reloads whenever asked to; returns when the daemon stops.
    private func keepReloading() async {
        var done: UInt64 = 0
        while true {
            await reloadAsked.wait(after: done)
            guard !isStopping, !Task.isCancelled else { return }
            done = reloadAsked.commits
            reload()
        }
    }

    /// Reads all files again and switches to them; an invalid configuration changes nothing.
    private func reload() {
        host.notifier.send(.reloading(since: host.monotonic()), .status("reloading the configuration"))
        pingWatchdog()
        do {
            let new = try reread()
            guard new.configuration.stateDirectory == setup.configuration.stateDirectory else {
                throw ConfigurationError(
                    place: "state_dir",
                    problem: "changed to \(new.configuration.stateDirectory), which requires a restart")
            }
            try changeSockets(to: new)
            next = new
            rejection.value = nil
            log.notice("reloaded the configuration")
            for warning in new.configuration.warnings { log.warning("\(warning)") }
            serving?.cancel()
        } catch {
            reject(error)
            host.notifier.send(.ready)
        }
    }

    private func reject(_ error: any Error) {
        let reason = CommandFailure(any: error)?.message ?? "\(error)"
        log.error("the new configuration is invalid; keeping the old one", metadata: ["error": "\(reason)"])
        rejection.value = reason
        host.notifier.send(.status("the new configuration is invalid: \(reason)"))
        statusChanged.announce()
    }

    // MARK: Serving

    /// Serves one setup and account after the other; returns when cancelled.
    private func serveUntilStopped() async throws {
        while !Task.isCancelled {
            do {
                try await serve()
                guard !Task.isCancelled, let new = next.take() else { return }
                previous = previous ?? setup
                setup = new
            } catch SyncError.otherAccount(let account) {
                log.warning(
                    "the token belongs to another account; switching to that account's cache",
                    metadata: ["account": "\(account)"])
                try StateDirectory(setup).use(account: account)
            } catch {
                guard let working = previous.take() else { throw error }
                reject(error)
                setup = working
            }
        }
    }

    private func serve() async throws {
        pingWatchdog()
        let opening = LongWork("preparing the database", notifier: host.notifier, monotonic: host.monotonic)
        self.opening = opening
        let service = Service(
            setup: setup, host: host, listeners: { try await self.listen() },
            ready: { await self.noteReady(at: $0) }, rejection: rejection, statusChanged: statusChanged)
        let task = Task { try await service.run(opening) }
        serving = task
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        // The error of a cancelled service does not matter: another service takes over, or the daemon stops.
        if !task.isCancelled { try result.get() }
    }

    /// Between two services no `Watchdog` is running.
    private func pingWatchdog() { if host.watchdogInterval != nil { host.notifier.send(.watchdog) } }

    private func listen() throws -> Service.Sockets {
        try changeSockets(to: setup)
        return Service.Sockets(
            served: try sockets.forServer(), addresses: sockets.addresses, webhooks: try webhookSockets.forServer(),
            unused: try sockets.unusedForServer(besides: webhookSockets.addresses))
    }

    private func closeSockets() {
        sockets.close()
        webhookSockets.close()
    }

    private func changeSockets(to setup: Setup) throws {
        let before = (next ?? self.setup).webhookListeners
        try webhookSockets.change(to: setup.webhookListeners)
        do {
            try sockets.change(to: setup.listeners)
        } catch {
            try? webhookSockets.change(to: before)
            throw error
        }
        let unused = sockets.unused.filter { !webhookSockets.addresses.contains($0) }
        defer { unusedAddresses = unused }
        for address in unused where !unusedAddresses.contains(address) {
            log.warning(
                "a socket of the service manager is not used; run systemctl edit repairminder-sync.socket",
                metadata: ["address": "\(address)"])
        }
    }

    private func noteReady(at addresses: [BoundAddress]) {
        previous = nil
        host.ready(addresses)
        if !host.notifier.send(.ready) {
            log.warning("could not notify the service manager that the daemon is ready; check NOTIFY_SOCKET")
        }
    }
}
