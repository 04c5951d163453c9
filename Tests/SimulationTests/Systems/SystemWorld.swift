import EntitySchema
import JSONText
import Logging
import ReferenceUpstream
import SQLiteStore
import SyncEngine
import Synchronization
import TestSupport
import Upstream

@testable import CacheStore

/// The simulation of a shipped schema: its reference upstream, one daemon, and users who write on both sides.
///
/// Uses only what the schema itself declares, so it works with any schema.
final class SystemWorld {
    /// An acknowledged local write, and the number that its values carry.
    struct Write {
        var entity: String
        var key: String
        var number: Int
        var operation: Operation
        var fields: [String]
        /// It corrected a change that a later one of the same field follows, so no reader need ever see it.
        var isCovered = false
    }

    let plan: SystemPlan
    /// As the upstream knows it.
    let schema: EntitySchema
    /// As the daemon knows it.
    private(set) var running: EntitySchema
    let executor: SimulatedExecutor
    let log: EventLog
    let transport: SystemTransport
    let clock: SimulatedClock
    private let databases: DatabaseFolder
    private var path: String
    private(set) var store: CacheStore?
    private(set) var engine: SyncEngine?
    /// As the running daemon calls it.
    private(set) var upstream: (any Upstream)?
    private var task: Task<Void, Never>?
    private var process: ProcessTransport?
    let samples: [String: [JSONText]]
    let answered = Answered()
    let requests: SystemRequests
    private let account: SystemAccount?
    private var lastNumber = 0
    /// Nil when others write too.
    private(set) var watch: OneWriterCheck?

    /// The writes acknowledged so far, recorded by calls that may end long after they began.
    final class Answered: Sendable {
        private let all = Mutex<[Write]>([])

        /// The number of writes when people last changed their mind about some.
        private let acted = Mutex(0)

        var writes: [Write] { all.withLock { $0 } }
        var actedAfter: Int { acted.withLock { $0 } }
        func add(_ write: Write) { all.withLock { $0.append(write) } }
        func noteAct() {
            let count = writes.count
            acted.withLock { $0 = count }
        }
    }

    var writes: [Write] { answered.writes }
    /// Entities with records that were deleted on either side, and those that may be deleted with them.
    private(set) var deletedEntities: Set<String> = []
    /// Records that others changed where no list shows it, so that only a full sync reads them again.
    private(set) var unlisted: Set<String> = []

    init(_ plan: SystemPlan, databases: DatabaseFolder) throws {
        self.plan = plan
        let seed = plan.seed
        schema = try EntitySchema(yaml: plan.yaml, file: "simulated.yaml")
        running = schema
        executor = SimulatedExecutor(seed: seed)
        log = EventLog(executor: executor)
        clock = SimulatedClock(executor: executor, error: .zero)
        requests = SystemRequests(executor: executor)
        samples = SampleGenerator(schema: schema, rows: plan.rows, seed: seed).records().mapValues { records in
            records.map { record in
                guard plan.writesAllTypes, record[Marks.stageField] != nil else { return record }
                return record.setting(Marks.stageField, to: .string(Marks.stages[0]))
            }
        }
        var settings = ReferenceUpstream.Settings()
        settings.seed = seed
        settings.serverIds = SystemPlan.hasServerKeys(seed)
        settings.checksReferences = true
        settings.habits = plan.habits
        settings.user = plan.user
        account = try plan.user.map { try SystemAccount($0, in: databases) }
        let reference = ReferenceUpstream(
            schema: try EntitySchema(yaml: plan.upstreamYAML, file: "simulated.yaml"), records: samples,
            settings: settings, clock: clock, now: { [clock] in clock.timeOfDay })
        transport = SystemTransport(reference, clock: clock, executor: executor, log: log)
        self.databases = databases
        path = try databases.newDatabase(of: schema, from: plan.yaml)
        if plan.hasOneWriter { watch = OneWriterCheck(self) }
    }

    /// The entities that both sides know.
    var entities: [Entity] { running.entities.filter { !$0.isLocal } }

    var reference: ReferenceUpstream { transport.reference }

    // MARK: The daemon

    /// Starts it unless it runs, with the plan's schema or one of the others.
    func start(with yaml: String? = nil) throws {
        guard store == nil else { return }
        let schema = try EntitySchema(yaml: yaml ?? plan.yaml, file: "simulated.yaml")
        if schema != running { watch?.forget() }
        running = schema
        let mutated = try EntitySchema(
            yaml: plan.mutation?.damaged(yaml ?? plan.yaml) ?? yaml ?? plan.yaml, file: "simulated.yaml")
        let store = try CacheStore(
            path: path, schema: mutated, sealer: .sample(),
            runtime: GroupCommit.Runtime(
                schedule: { [executor] commit in executor.enqueue(commit) }, uptime: { [executor] in executor.now }),
            makeID: { [executor] in "here-\(executor.random { $0.hex(12) })" })
        try plan.mutation?.damage(store)
        let upstream = connect(mutated.upstream)
        let handler = EventLogHandler(log: log, name: "daemon")
        let engine = SyncEngine(
            store: store, upstream: upstream,
            settings: SyncSettings(
                interval: plan.interval, fullEvery: plan.fullEvery, writeDelay: .milliseconds(100), parallel: 2,
                retry: RetryPolicy(maximumAttempts: 12, base: .seconds(1), cap: .seconds(20))),
            time: SyncTime(clock: clock, now: { [clock] in clock.timeOfDay }, serverOffset: { .zero }),
            random: { [executor] in executor.random { $0.fraction() } }, log: Logger(label: "engine") { _ in handler })
        log.add("the daemon starts")
        task = Task { try? await engine.run() }
        self.store = store
        self.engine = engine
        self.upstream = upstream
    }

    private func connect(_ upstream: UpstreamPlan) -> any Upstream {
        let wire = ProcessTransport(plan.mutation.map { MutatedTransport(transport, $0, running) } ?? transport)
        process = wire
        let now: @Sendable () -> Timestamp = { [clock] in clock.timeOfDay }
        let budget = budget()
        let token = account?.credentials(upstream, transport: wire, budget: budget, now: now)
        let made = HTTPUpstream(
            plan: upstream, baseURL: "http://simulated", transport: wire, token: token, budget: budget, now: now)
        return budget == nil ? made : WatchedUpstream(made, requests)
    }

    /// It knows what the processes before it have sent.
    private func budget() -> RequestBudget? {
        plan.limits.map { limits in
            RequestBudget(
                limits: limits, ages: requests.ages, monotonic: { [executor] in executor.now },
                sleep: { [clock] in try await clock.sleep(for: $0) }, journal: requests)
        }
    }

    /// Ends the process at once: only what is on disk is left.
    func crash() throws {
        guard let store else { return }
        let old = path
        path = try databases.copy(old)
        log.add("the daemon crashes")
        process?.end()
        task?.cancel()
        self.store = nil
        engine = nil
        upstream = nil
        try store.close()
        databases.delete(old)
    }

    func end() throws {
        try crash()
        databases.delete(path)
        for window in plan.limits?.windows ?? [] {
            let most = transport.most(within: window.span)
            guard most <= window.requests else {
                throw Violation(rule: .withinLimits, detail: "\(most) requests in \(window.span)")
            }
        }
        guard requests.mostPulls <= 1 else {
            throw Violation(
                rule: .changesFirst, detail: "\(requests.mostPulls) pulls were sent before a change that waited")
        }
        guard executor.drain(within: .seconds(600)) else {
            throw Violation(rule: .endsCleanly, detail: "something still waits ten minutes after the end")
        }
    }

    func sync(full: Bool) {
        guard let engine else { return }
        // A list that is cut leaves out records that exist, so no person confirms their deletion.
        let confirms = full && !plan.habits[.cutLists]
        Task { [log, running] in
            do throws(SyncError) {
                let names = Set(running.entities.filter { $0.pull != nil }.map(\.name))
                try await engine.sync(SyncRequest(full: full, deletes: confirms ? names : []))
                log.add("synced")
            } catch {
                log.add("not synced: \(error)")
            }
        }
    }

    // MARK: Parts

    func noteDeletion(of entity: String) {
        var names: Set<String> = []
        func add(_ name: String) {
            guard names.insert(name).inserted else { return }
            for relation in schema[name]?.relations ?? [] {
                if case .many = relation.kind { add(relation.entity) }
            }
        }
        add(name(of: entity))
        deletedEntities.formUnion(names)
    }

    func noteUpstreamEdit(of entity: Entity, _ key: String) {
        if isUnlisted(entity) { unlisted.insert("\(entity.name)/\(key)") }
    }

    /// Whether an edit of a record changes nothing in a list: it comes only with a parent, in whose list nothing moves.
    private func isUnlisted(_ entity: Entity) -> Bool {
        entity.pull == nil
            && schema.parents(of: entity).allSatisfy {
                !$0.detail.isInList && $0.parent.pull?.whenChanged == nil && $0.parent.pull?.changedAt == nil
            }
    }

    /// The name of an entity in the final schema, which some others call "chores".
    func name(of entity: String) -> String { schema[entity] == nil && entity == "chores" ? "tasks" : entity }

    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
