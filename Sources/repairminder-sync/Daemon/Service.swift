import CacheStore
import ContentStore
import EntitySchema
import Foundation
import Logging
import NetworkMonitor
import ServiceManager
import SocketServer
import SyncEngine

/// One account's cache, kept in step and served with one setup.
struct Service: Sendable {
    let setup: Setup
    let host: DaemonHost
    /// The sockets to listen on, for one server.
    let listeners: @Sendable () async throws -> [Listener]
    /// Called once the cache is open and callers are answered.
    let ready: @Sendable () async -> Void
    /// Why a newer configuration is not in force.
    let refusal: @Sendable () async -> String?

    /// How often people are told what it does.
    private static let statusInterval = Duration.seconds(2)

    /// Runs until the task is cancelled, then finishes what is in flight. Throws `SyncError.otherAccount` when the token
    /// turns out to be another's than the cache. `opening` is told while the database takes long to open.
    ///
    /// A damaged database is replaced by a new one with its queue, and that is served; throws where that was done a short
    /// while ago.
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
                "the database was not closed cleanly; the next start mends that", metadata: ["error": "\(error)"])
        }
    }

    private func serve(_ store: CacheStore, _ state: StateDirectory) async throws {
        if setup.baseURL == nil { log.warning("upstream.base_url is not set; only what is cached is served") }
        let contents = try contents(beside: store.path)
        let engine = try engine(store, contents)
        let server = try server(store, engine, state, listeners: await listeners())
        for address in try server.bind() { log.notice("listening", metadata: ["address": "\(address)"]) }
        await ready()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                async let _ = watchNetwork(for: engine)
                try await engine.run()
            }
            group.addTask {
                try await withTaskCancellationHandler {
                    try await server.run()
                } onCancel: {
                    // Whoever waits for something to happen is answered now, so that the server need not wait for them.
                    store.signal.close()
                }
            }
            group.addTask { try await logKeeper(store, engine).run() }
            group.addTask { try await backupKeeper(store).run() }
            if let contents { group.addTask { try await contentKeeper(store, contents).run() } }
            if let reminders = try reminderKeeper(store) { group.addTask { try await reminders.run() } }
            if let mirror = mirrorKeeper(store) { group.addTask { try await mirror.run() } }
            group.addTask { try await store.waitForDamage() }
            group.addTask { try await tellStatus(store, engine) }
            if let watchdog = watchdog(store, engine, server) { group.addTask { try await watchdog.run() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    var log: Logger { logger("daemon") }

    func logger(_ label: String) -> Logger { host.logger(setup.configuration.log, label) }

    /// Returns when cancelled, or when the kernel does not tell of changes; probing alone finds out then.
    private func watchNetwork(for engine: SyncEngine) async {
        do {
            try await NetworkMonitor(clock: ContinuousClock()).forEachChange {
                do {
                    try await engine.networkChanged()
                } catch {
                    log.error("a change of the network could not be followed", metadata: ["error": "\(error)"])
                }
            }
        } catch {
            log.notice(
                "the kernel does not tell of network changes; probing finds out", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps the service manager's line for people up to date.
    private func tellStatus(_ store: CacheStore, _ engine: SyncEngine) async throws {
        var told: String?
        while true {
            if let line = await statusLine(store, engine), line != told {
                host.notifier.send(.status(line))
                told = line
            }
            try await ContinuousClock().sleep(for: Self.statusInterval)
        }
    }

    /// Nil when the database cannot be read right now.
    private func statusLine(_ store: CacheStore, _ engine: SyncEngine) async -> String? {
        guard let queue = try? store.pendingCount(), let conflicts = try? store.openConflicts() else { return nil }
        return StatusLine(
            status: await engine.status(), pending: queue.pending, failed: queue.failed, conflicts: conflicts,
            missing: await engine.missing(), refusal: await refusal()
        ).text(at: host.now(), in: .current)
    }

    private func watchdog(_ store: CacheStore, _ engine: SyncEngine, _ server: SocketServer) -> Watchdog? {
        guard let interval = host.watchdogInterval else { return nil }
        return Watchdog(
            parts: [
                Watchdog.Part("sync") { await engine.isMoving() },
                Watchdog.Part("database writer") {
                    await store.awaitWriter()
                    return true
                },
                Watchdog.Part("server") { await server.isAlive(within: interval) },
            ], interval: interval, clock: ContinuousClock(), ping: { host.notifier.send(.watchdog) },
            report: { stuck in
                log.critical(
                    "a part does not move, so the service manager gets no sign of life",
                    metadata: ["parts": "\(stuck.joined(separator: ", "))"])
            })
    }
}
