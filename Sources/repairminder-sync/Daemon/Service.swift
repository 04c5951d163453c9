import CacheStore
import ContentStore
import EntitySchema
import Foundation
import Logging
import NetworkMonitor
import ResidentMemory
internal import SQLiteStore
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
    /// Rings when something besides the cache has changed that people are told of, a refusal for one.
    let news: ChangeSignal

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
            group.addTask { try await statusTeller(store, engine).run() }
            group.addTask { try await memoryKeeper(engine).run() }
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
            try await NetworkMonitor(clock: TimerClock()).forEachChange { await engine.networkChanged() }
        } catch {
            log.notice(
                "the kernel does not tell of network changes; probing finds out", metadata: ["error": "\(error)"])
        }
    }

    private func statusTeller(_ store: CacheStore, _ engine: SyncEngine) -> StatusTeller {
        StatusTeller(clock: TimerClock()) { [news] in
            let (commits, others) = (store.signal.commits, news.commits)
            return {
                await withTaskGroup { group in
                    group.addTask { await store.signal.wait(after: commits) }
                    group.addTask { await news.wait(after: others) }
                    await group.next()
                    group.cancelAll()
                }
            }
        } line: {
            await statusLine(store, engine)
        } tell: { line in
            host.notifier.send(.status(line))
        }
    }

    /// Nil when the database cannot be read right now.
    private func statusLine(_ store: CacheStore, _ engine: SyncEngine) async -> String? {
        guard let summary = try? store.summary() else { return nil }
        let (status, missing) = await engine.report()
        return StatusLine(
            status: status, pending: summary.count.pending, failed: summary.count.failed,
            conflicts: summary.openConflicts, missing: missing, refusal: await refusal()
        ).text(at: host.now(), in: .current)
    }

    private func memoryKeeper(_ engine: SyncEngine) -> MemoryKeeper {
        MemoryKeeper(
            watch: { [news] in
                let others = news.commits
                return { await news.wait(after: others) }
            }, isBusy: { await engine.status().state == .syncing }, clock: TimerClock(),
            giveBack: ResidentMemory.giveBack)
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
            ], interval: interval, clock: TimerClock(), ping: { host.notifier.send(.watchdog) },
            report: { stuck in
                log.critical(
                    "a part does not move, so the service manager gets no sign of life",
                    metadata: ["parts": "\(stuck.joined(separator: ", "))"])
            })
    }
}
