import EntitySchema
import JSONText
import ReferenceUpstream
import SyncEngine

@testable import CacheStore

/// A running simulation: an upstream, daemons, and the script that acts on them.
final class World {
    let executor: SimulatedExecutor
    let log: EventLog
    let settings: SimulationSettings
    let server: SimulatedServer
    let ledger = Ledger()
    let daemons: [SimulatedDaemon]
    let mutation: Mutation?
    private let seed: UInt64
    private let rules: Set<Violation.Rule>
    /// One for each daemon.
    private let presence: [PresenceCheck]

    /// `settings`: those of the seed unless others are given.
    init(
        seed: UInt64, databases: DatabaseFolder, mutation: Mutation?, rules: Set<Violation.Rule>,
        settings: SimulationSettings? = nil
    ) throws {
        self.seed = seed
        self.mutation = mutation
        self.rules = rules
        let settings = settings ?? SimulationSettings(seed: seed, for: mutation)
        self.settings = settings
        executor = SimulatedExecutor(seed: seed)
        log = EventLog(executor: executor)
        let server = SimulatedServer(
            schema: try settings.schema(), settings: settings, executor: executor, log: log)
        self.server = server
        presence = (0..<settings.daemons).map { _ in PresenceCheck() }
        daemons = try (0..<settings.daemons).map {
            try SimulatedDaemon(number: $0, server: server, databases: databases, mutation: mutation)
        }
    }

    /// Throws the first `Violation`.
    func run(_ script: [Step]) throws {
        for _ in 0..<2 {
            for entity in settings.entities { serverCreate(entity, pick: executor.random { $0.below(10) }, late: 0) }
        }
        for daemon in daemons { try daemon.start() }
        for step in script {
            log.add("step \(step)")
            executor.reseed(seed &* 31 &+ UInt64(step.number))
            try perform(step.action)
            executor.run(for: .milliseconds(step.wait))
            try checkAfterStep()
        }
        log.add("script over")
        if !rules.isDisjoint(with: FinalCheck.rules) { try FinalCheck(world: self).run() }
    }

    /// Ends everything that runs; throws when something does not end.
    func tearDown() throws {
        for daemon in daemons {
            try daemon.crash()
            daemon.remove()
        }
        guard executor.drain(within: .seconds(600)) else {
            throw Violation(
                rule: .endsCleanly, detail: "something still waits ten minutes after every engine was ended")
        }
    }

    // MARK: Checks

    func checkAfterStep() throws {
        for daemon in daemons {
            guard let life = daemon.life else { continue }
            try CacheCheck(daemon: daemon, store: life.store, world: self).run()
            try check { try ConflictCheck(daemon: daemon, store: life.store, world: self).run() }
            try check { try presence[daemon.number].run(daemon, life.store, self) }
        }
        try EffectCheck(effects: server.effects, world: self).run()
    }

    /// Ignores a violation of a rule that is not checked.
    func check(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let violation as Violation where !rules.contains(violation.rule) {}
    }

    // MARK: Steps

    private func perform(_ action: Step.Action) throws {
        switch action {
        case .create(let daemon, let entity, let pick): create(daemons[daemon], entity, pick)
        case .edit(let daemon, let entity, let pick, let fields): edit(daemons[daemon], entity, pick, fields)
        case .delete(let daemon, let entity, let pick): delete(daemons[daemon], entity, pick)
        case .batch(let daemon, let pick, let isAtomic, let fails):
            batch(daemons[daemon], pick, isAtomic: isAtomic, fails: fails)
        case .retryFailed(let daemon): retryFailed(daemons[daemon])
        case .serverCreate(let entity, let pick, let late): serverCreate(entity, pick: pick, late: late)
        case .serverEdit(let entity, let pick, let late): serverEdit(entity, pick, late)
        case .serverDelete(let entity, let pick):
            if let key = pickServerKey(entity, pick) { server.delete(entity, key) }
        case .serverRestore(let pick):
            let gone = server.rows("orders").filter(\.isDeleted)
            if !gone.isEmpty { server.restore("orders", gone[pick % gone.count].key) }
        case .offline(let daemon): daemons[daemon].network.setOnline(false)
        case .online(let daemon): daemons[daemon].network.setOnline(true)
        case .fault(let daemon, let fault, let times): daemons[daemon].network.add(fault, times: times)
        case .outage(let daemon, let kind, let seconds):
            daemons[daemon].network.fail(kind, until: executor.now + .seconds(seconds))
        case .poison(let entity, let pick, let poison):
            let key = pick.flatMap { pickServerKey(entity, $0) }
            server.poison(key.map { "\(entity)/\($0)" } ?? entity, poison)
        case .healPoison: server.heal()
        case .crash(let daemon, let jobs):
            executor.run(jobs: jobs, within: .seconds(2))
            try daemons[daemon].crash()
        case .start(let daemon): try daemons[daemon].start()
        case .stop(let daemon): try daemons[daemon].stop()
        case .jump(let daemon, let seconds): daemons[daemon].clock.jump(by: .seconds(seconds))
        case .pause(let daemon): pause(daemons[daemon])
        case .resume(let daemon): resume(daemons[daemon])
        case .sync(let daemon, let full): sync(daemons[daemon], full: full)
        case .nothing: break
        }
    }

    // MARK: Upstream

    private func serverCreate(_ entity: String, pick: Int, late: Int) {
        var members = (SimulationSettings.markedFields[entity] ?? []).map { field in
            (key: field, value: JSONText.string(serverMarker(field)))
        }
        if let (field, parent) = SimulationSettings.parents[entity] {
            guard let key = pickServerKey(parent, pick) else { return }
            members.append((field, .string(key)))
        }
        members += stage(of: entity)
        server.create(entity, members, late: .milliseconds(late))
    }

    private func serverEdit(_ entity: String, _ pick: Int, _ late: Int) {
        guard let key = pickServerKey(entity, pick), let fields = SimulationSettings.markedFields[entity] else {
            return
        }
        let field = fields[pick % fields.count]
        let members = [(key: field, value: JSONText.string(serverMarker(field)))] + stage(of: entity)
        server.update(entity, key, .object(members: members), late: .milliseconds(late))
    }

    /// What decides whether an order is in the caches' window, drawn.
    func stage(of entity: String) -> [(key: String, value: JSONText)] {
        guard entity == "orders" else { return [] }
        if settings.window.hasStages { return [("stage", executor.random { $0.chance(0.5) } ? "open" : "done")] }
        guard settings.window.hasDueTime else { return [] }
        let due = server.now + .seconds(executor.random { $0.within(-600...900) })
        return [("due_at", .string(due.description))]
    }

    private func serverMarker(_ field: String) -> String { "s\(executor.random { $0.below(1_000_000) }).\(field)" }

    private func pickServerKey(_ entity: String, _ pick: Int) -> String? {
        let rows = server.records(entity)
        return rows.isEmpty ? nil : rows[pick % rows.count].key
    }
}
