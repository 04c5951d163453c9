import EntitySchema
import GRDB
import JSONText
import Logging
import ReferenceUpstream
import SQLiteStore
import SyncEngine
import Synchronization
import TestSupport
import Upstream

@testable import CacheStore

/// One daemon: its database file, its clock, and, while it runs, its store and engine.
final class SimulatedDaemon {
    /// One process of the daemon, from its start to its end.
    struct Life {
        var store: CacheStore
        var engine: SyncEngine
        var upstream: SimulatedUpstream
        var running: Task<Void, Never>
    }

    let number: Int
    let clock: SimulatedClock
    let network = SimulatedNetwork()
    private let server: SimulatedServer
    private let databases: DatabaseFolder
    private let mutation: Mutation?
    private let ids = Counter()
    private(set) var path: String
    private(set) var life: Life?
    private(set) var crashes = 0
    /// A trigger that each process puts into its database: another fault on purpose.
    var trigger: String?
    private var starts = 0
    /// How far the window of the last start reaches.
    private(set) var shape = WindowShape.base

    init(number: Int, server: SimulatedServer, databases: DatabaseFolder, mutation: Mutation?) throws {
        self.number = number
        self.server = server
        self.databases = databases
        self.mutation = mutation
        clock = SimulatedClock(
            executor: server.executor, error: .milliseconds(server.settings.clockErrors[number]))
        path = try databases.newDatabase(server.settings)
    }

    // MARK: Processes

    /// `wanted`: how far the window reaches; nil lets the seed decide.
    func start(_ wanted: WindowShape? = nil) throws {
        guard life == nil else { return }
        let executor = server.executor
        let shapes = server.settings.shapes
        shape = wanted ?? (starts == 0 ? .base : shapes[(number + starts) % shapes.count])
        starts += 1
        let schema = try server.settings.schema(shape, ignoringWindow: mutation == .ignoresWindow)
        let store = try CacheStore(
            path: path, schema: schema, sealer: .sample(),
            runtime: GroupCommit.Runtime(schedule: { executor.enqueue($0) }, uptime: { executor.now }),
            makeID: { [number, ids] in "d\(number)-\(ids.next())" })
        try mutation?.damage(store)
        if let trigger { try store.pool.write { db in try db.execute(sql: trigger) } }
        // As in the daemon: the offset that an earlier process measured is used until the first answer.
        let serverClock = ServerClock(
            now: { [clock] in clock.timeOfDay }, monotonic: { executor.now },
            initialOffset: try SyncEngine.rememberedClockOffset(in: store))
        let upstream = SimulatedUpstream(daemon: number, server: server, network: network, clock: serverClock)
        let handler = EventLogHandler(log: server.log, name: "d\(number)")
        let engine = SyncEngine(
            store: store, upstream: mutation?.damaged(upstream) ?? upstream, settings: settings,
            time: SyncTime(
                clock: clock, now: { [clock] in clock.timeOfDay },
                serverOffset: { [mutation] in mutation == .ignoresServersClock ? nil : serverClock.offset }),
            random: { executor.random { $0.fraction() } }, log: Logger(label: "engine") { _ in handler })
        server.log.add("d\(number) starts\(shape == .base ? "" : " with a \(shape) window")")
        let running = Task { [log = server.log, number] in
            do {
                try await engine.run()
            } catch {
                if upstream.isAlive { log.add("d\(number) ends: \(error)") }
            }
        }
        life = Life(store: store, engine: engine, upstream: upstream, running: running)
        if mutation != .ignoresSignals { receiveCalls(engine, upstream) }
    }

    /// The upstream calls the webhook while the process lives and can be reached.
    private func receiveCalls(_ engine: SyncEngine, _ upstream: SimulatedUpstream) {
        for source in server.schema.upstream.signals where source.word == "webhook" {
            _ = server.signals.listen { message in
                if upstream.isAlive, upstream.canReceive { engine.take(message, from: source) }
            }
        }
    }

    private var settings: SyncSettings {
        SyncSettings(
            interval: .seconds(90), fullEvery: .seconds(900), writeDelay: .milliseconds(100),
            parallel: server.settings.parallel,
            retry: RetryPolicy(maximumAttempts: server.settings.maximumAttempts, base: .seconds(1), cap: .seconds(20)))
    }

    /// Whether the last pull was made with the window of this process; true for an entity without one.
    func hasPulledWindow(of entity: String) throws -> Bool {
        guard let store = life?.store, let known = store.schema[entity] else { return false }
        return try store.cursor(of: entity).window == store.windowDefinition(of: known)
    }

    /// Ends the process at once: only what is on disk is left, and tasks that still run find everything closed.
    func crash() throws {
        guard life != nil else { return }
        let old = path
        path = try databases.copy(old)
        crashes += 1
        server.log.add("d\(number) crashes")
        try end()
        databases.delete(old)
    }

    /// Ends the engine first, as SIGTERM does.
    func stop() throws {
        guard let life else { return }
        server.log.add("d\(number) is stopped")
        life.running.cancel()
        server.executor.run(for: .seconds(2))
        try end()
    }

    private func end() throws {
        guard let life else { return }
        life.upstream.die()
        life.running.cancel()
        self.life = nil
        try life.store.close()
    }

    func remove() { databases.delete(path) }
}
