import CacheStore
import ContentStore
import EntitySchema
import Foundation
import Logging
import NetworkMonitor
import ResidentMemory
import SQLiteStore
import ServiceManager
import SocketServer
import SyncEngine

/// Syncs and serves one account's cache with one setup.
struct Service: Sendable {
    let setup: Setup
    let host: DaemonHost
    /// Returns the sockets to listen on.
    let listeners: @Sendable () async throws -> Sockets
    /// Called when the cache is open and the server accepts callers at these addresses.
    let ready: @Sendable ([BoundAddress]) async -> Void
    /// Why a newer configuration was rejected; nil when none was.
    let rejection: Published<String?>
    /// Signals that something other than the cache has changed in the status, such as a rejected configuration.
    let statusChanged: ChangeSignal

    struct Sockets {
        var served: [Listener]
        /// The addresses of those.
        var addresses: [BoundAddress]
        /// Where the upstream calls.
        var webhooks: [Listener]
        /// Those of the service manager that the configuration does not name.
        var unused: [Listener]
    }

    /// Runs until the task is cancelled, then finishes requests in flight. Throws `SyncError.otherAccount` when the
    /// token belongs to another account than the cache. `opening` reports progress while opening the database takes
    /// long.
    ///
    /// A damaged database is replaced by a new one with its queue, and the service continues; throws when the last
    /// replacement was a short while ago.
    func run(_ opening: LongWork) async throws {
        while true {
            do {
                return try await runOnce(opening)
            } catch CacheError.damaged(let reason) {
                try await opener(opening).rescue(StateDirectory(setup), because: reason)
            }
        }
    }

    private func runOnce(_ opening: LongWork) async throws {
        let state = try StateDirectory(setup)
        let store = try await opener(opening).open(state)
        do {
            if !Task.isCancelled { try await serve(store, state) }
        } catch CacheError.damaged(let reason) {
            store.abandon()
            throw CacheError.damaged(reason)
        } catch {
            close(store)
            throw error
        }
        close(store)
    }

    private func close(_ store: CacheStore) {
        do {
            try store.close()
        } catch {
            log.warning(
                "the database was not closed cleanly; the next start recovers it", metadata: ["error": "\(error)"])
        }
    }

    private func serve(_ store: CacheStore, _ state: StateDirectory) async throws {
        if setup.baseURL == nil { log.warning("upstream.base_url is not set; serving cached data only") }
        let contents = try contents(beside: store.path)
        let meter = ActivityMeter(monotonic: host.monotonic)
        let standby = try standbyLink(store)
        if standby == nil { await StandbyLink.noteAlone(store, log) }
        let engine = try engine(store, contents, meter, standby)
        let sockets = try await listeners()
        let server = try server(store, engine, state, standby, at: sockets)
        let addresses = try server.bind()
        for address in addresses { log.notice("listening", metadata: ["address": "\(address)"]) }
        let webhooks = try webhookServer(engine, at: sockets.webhooks)
        for address in try webhooks?.bind() ?? [] {
            log.notice("listening for webhooks", metadata: ["address": "\(address)"])
        }
        let wrongAddress = wrongAddressServer(sockets.unused)
        try wrongAddress?.bind()
        await ready(addresses)
        let outcome: Result<Void, any Error>
        do {
            let others = [wrongAddress, webhooks].compactMap(\.self)
            outcome = .success(try await run(store, engine, server, besides: others, contents, meter, standby))
        } catch {
            outcome = .failure(error)
        }
        await standby?.release()
        if !isDamaged(outcome) { mirrorKeeper(store)?.finish() }
        try outcome.get()
    }

    private func isDamaged(_ outcome: Result<Void, any Error>) -> Bool {
        if case .failure(CacheError.damaged) = outcome { true } else { false }
    }

    /// Runs all parts until one of them ends.
    private func run(
        _ store: CacheStore, _ engine: SyncEngine, _ server: SocketServer, besides others: [SocketServer],
        _ contents: ContentFolder?, _ meter: ActivityMeter, _ standby: StandbyLink?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                async let _ = watchNetwork(for: engine)
                async let _ = completeLoads(of: store)
                try await engine.run()
            }
            group.addTask {
                try await withTaskCancellationHandler {
                    try await server.run()
                } onCancel: {
                    // Answers long-polling callers now, so the server does not have to wait for them.
                    store.signal.close()
                }
            }
            if let standby { group.addTask { await standby.run(engine) } }
            for other in others { group.addTask { try await other.run() } }
            group.addTask { try await activityKeeper(store, meter).run() }
            group.addTask { try await logKeeper(store, engine).run() }
            group.addTask { try await backupKeeper(store).run() }
            if let contents { group.addTask { try await contentKeeper(store, contents).run() } }
            group.addTask { try await deliver(store, engine, standby) }
            if let mirror = mirrorKeeper(store) { group.addTask { try await mirror.run() } }
            group.addTask { try await store.waitForDamage() }
            group.addTask { try await statusReporter(store, engine).run() }
            group.addTask { try await memoryKeeper(engine).run() }
            if let watchdog = watchdog(store, engine, server) { group.addTask { try await watchdog.run() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    var log: Logger { logger("daemon") }

    func logger(_ label: String) -> Logger { host.logger(setup.configuration.log, label) }

    /// Returns when cancelled, or when the kernel reports no network changes; then only probing detects them.
    private func watchNetwork(for engine: SyncEngine) async {
        do {
            try await NetworkMonitor(clock: TimerClock()).forEachChange { await engine.networkChanged() }
        } catch {
            log.notice(
                "the kernel reports no network changes; relying on probes", metadata: ["error": "\(error)"])
        }
    }

    /// Returns when what earlier runs left is done: figures that waited for the end of a load, and the search index,
    /// which is built again when it is of an older version.
    private func completeLoads(of store: CacheStore) async {
        do {
            try await store.completeFigures(at: host.now())
            try await store.completeSearch()
        } catch {
            log.warning(
                "figures and search index could not be completed; the next sync tries again",
                metadata: ["error": "\(error)"])
        }
    }

    private func statusReporter(_ store: CacheStore, _ engine: SyncEngine) -> StatusReporter {
        StatusReporter(clock: TimerClock()) { [statusChanged] in
            let (commits, others) = (store.signal.commits, statusChanged.commits)
            return {
                await withTaskGroup { group in
                    group.addTask { await store.signal.wait(after: commits) }
                    group.addTask { await statusChanged.wait(after: others) }
                    await group.next()
                    group.cancelAll()
                }
            }
        } line: {
            await statusLine(store, engine)
        } send: { line in
            host.notifier.send(.status(line))
        }
    }

    /// Nil when the database cannot be read right now.
    private func statusLine(_ store: CacheStore, _ engine: SyncEngine) async -> String? {
        guard let summary = try? store.summary() else { return nil }
        let status = engine.status()
        return StatusLine(
            status: status, pending: summary.count.pending, failed: summary.count.failed,
            conflicts: summary.openConflicts, missing: await engine.missing(status), rejection: rejection.value
        ).text(TimeText(now: host.now()))
    }

    private func memoryKeeper(_ engine: SyncEngine) -> MemoryKeeper {
        MemoryKeeper(
            watch: { [statusChanged] in
                let others = statusChanged.commits
                return { await statusChanged.wait(after: others) }
            }, isBusy: { engine.status().state == .syncing }, clock: TimerClock(),
            releaseMemory: ResidentMemory.release)
    }

    private func watchdog(_ store: CacheStore, _ engine: SyncEngine, _ server: SocketServer) -> Watchdog? {
        guard let interval = host.watchdogInterval else { return nil }
        return Watchdog(
            parts: [
                Watchdog.Part("sync") { await engine.isMoving() },
                Watchdog.Part("database writer") {
                    await store.awaitWriterProgress(TimerClock())
                    return true
                },
                Watchdog.Part("server") { await server.isAlive(within: interval) },
            ], interval: interval, clock: TimerClock(), ping: { host.notifier.send(.watchdog) },
            report: { stuck in
                log.critical(
                    "a component is stuck; withholding the watchdog signal",
                    metadata: ["parts": "\(stuck.joined(separator: ", "))"])
            })
    }
}
