import EntitySchema
import JSONText
import Logging
import ReferenceUpstream
import SyncEngine
import Synchronization
import TestSupport
import Upstream

@testable import CacheStore

/// One daemon: its database file, its clock, and, while it runs, its store and engine.
final class SimulatedDaemon {
    /// From a start to a crash.
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
    private let workplace: Workplace
    private let mutation: Mutation?
    private let ids = Counter()
    private(set) var path: String
    private(set) var life: Life?
    private(set) var crashes = 0

    init(number: Int, server: SimulatedServer, workplace: Workplace, mutation: Mutation?) throws {
        self.number = number
        self.server = server
        self.workplace = workplace
        self.mutation = mutation
        clock = SimulatedClock(
            executor: server.executor, error: .milliseconds(server.variety.clockErrors[number]))
        path = try workplace.newDatabase(server.variety)
    }

    // MARK: Its life

    func start() throws {
        guard life == nil else { return }
        let executor = server.executor
        let store = try CacheStore(
            path: path, schema: server.schema, sealer: .sample(),
            schedule: { commit in executor.enqueue(commit) },
            makeID: { [number, ids] in "d\(number)-\(ids.next())" })
        try mutation?.damage(store)
        // As in the daemon: what an earlier life has measured holds until the first answer.
        let serverClock = ServerClock(
            now: { [clock] in clock.timeOfDay }, monotonic: { executor.now },
            initialOffset: try SyncEngine.rememberedClockOffset(in: store))
        let upstream = SimulatedUpstream(daemon: number, server: server, network: network, clock: serverClock)
        let handler = EventLogHandler(log: server.log, name: "d\(number)")
        let engine = SyncEngine(
            store: store, schema: server.schema, upstream: mutation?.damaged(upstream) ?? upstream,
            settings: settings, clock: clock, now: { [clock] in clock.timeOfDay },
            random: { executor.random { $0.fraction() } },
            clockOffset: { [mutation] in mutation == .ignoresServersClock ? nil : serverClock.offset },
            log: Logger(label: "engine") { _ in handler })
        server.log.add("d\(number) starts")
        let running = Task { [log = server.log, number] in
            do {
                try await engine.run()
            } catch {
                if upstream.isAlive { log.add("d\(number) ends: \(error)") }
            }
        }
        life = Life(store: store, engine: engine, upstream: upstream, running: running)
    }

    private var settings: SyncSettings {
        SyncSettings(
            interval: .seconds(90), fullEvery: .seconds(900), writeDelay: .milliseconds(100),
            parallel: server.variety.parallel,
            retry: RetryPolicy(maximumAttempts: server.variety.maximumAttempts, base: .seconds(1), cap: .seconds(20)))
    }

    /// Ends at once: what is on disk is all that is left. What still runs finds everything shut.
    func crash() throws {
        guard life != nil else { return }
        let old = path
        path = try workplace.copy(old)
        crashes += 1
        server.log.add("d\(number) crashes")
        try end()
        workplace.delete(old)
    }

    /// Ends the engine first, as a signal does.
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

    func remove() { workplace.delete(path) }
}
