import EntitySchema
import JSONText
import Logging
import ReferenceUpstream
import SyncEngine
import Synchronization
import TestSupport
import Upstream

@testable import CacheStore

/// The simulation of a shipped schema: its reference upstream, one daemon, and users who write on both sides.
///
/// Uses only what the schema itself declares, so it works with any schema.
final class SystemWorld {
    /// An acknowledged local write, and the text that identifies it.
    struct Write {
        var entity: String
        var key: String
        var marker: String
        var field: String
    }

    let schema: EntitySchema
    let executor: SimulatedExecutor
    let log: EventLog
    let transport: SystemTransport
    let clock: SimulatedClock
    private let databases: DatabaseFolder
    private var path: String
    private(set) var store: CacheStore?
    private var engine: SyncEngine?
    private var running: Task<Void, Never>?
    private let samples: [String: [JSONText]]
    private let answered = Answered()
    private var lastMarker = 0

    /// The writes acknowledged so far, recorded by calls that may end long after they began.
    private final class Answered: Sendable {
        private let all = Mutex<[Write]>([])

        var writes: [Write] { all.withLock { $0 } }
        func add(_ write: Write) { all.withLock { $0.append(write) } }
    }

    var writes: [Write] { answered.writes }
    /// Entities with records that were deleted on either side, and those that may be deleted with them.
    private(set) var deletedEntities: Set<String> = []

    init(_ yaml: String, seed: UInt64, databases: DatabaseFolder) throws {
        schema = try EntitySchema(yaml: yaml, file: "simulated.yaml")
        executor = SimulatedExecutor(seed: seed)
        log = EventLog(executor: executor)
        clock = SimulatedClock(executor: executor, error: .zero)
        samples = SampleGenerator(schema: schema, rows: 9, seed: seed).records()
        var settings = ReferenceUpstream.Settings()
        settings.seed = seed
        settings.serverIds = seed % 2 == 0
        settings.checksReferences = true
        let reference = ReferenceUpstream(
            schema: schema, records: samples, settings: settings, clock: clock, now: { [clock] in clock.timeOfDay })
        transport = SystemTransport(reference, schema, clock: clock, executor: executor)
        self.databases = databases
        path = try databases.newDatabase(of: schema, from: yaml)
    }

    /// The entities that both sides know.
    var entities: [Entity] { schema.entities.filter { !$0.isLocal } }

    var reference: ReferenceUpstream { transport.reference }

    // MARK: The daemon

    func start() throws {
        guard store == nil else { return }
        let store = try CacheStore(
            path: path, schema: schema, sealer: .sample(),
            schedule: { [executor] commit in executor.enqueue(commit) },
            makeID: { [executor] in "here-\(executor.random { $0.hex(12) })" })
        let upstream = HTTPUpstream(
            plan: schema.upstream, baseURL: "http://simulated", transport: transport, token: nil,
            now: { [clock] in clock.timeOfDay })
        let handler = EventLogHandler(log: log, name: "daemon")
        let engine = SyncEngine(
            store: store, schema: schema, upstream: upstream,
            settings: SyncSettings(
                interval: .seconds(90), fullEvery: .seconds(900), writeDelay: .milliseconds(100), parallel: 2,
                retry: RetryPolicy(maximumAttempts: 12, base: .seconds(1), cap: .seconds(20))),
            clock: clock, now: { [clock] in clock.timeOfDay },
            random: { [executor] in executor.random { $0.fraction() } },
            clockOffset: { nil }, log: Logger(label: "engine") { _ in handler })
        log.add("the daemon starts")
        running = Task { try? await engine.run() }
        self.store = store
        self.engine = engine
    }

    /// Ends the process at once: only what is on disk is left.
    func crash() throws {
        guard let store else { return }
        let old = path
        path = try databases.copy(old)
        log.add("the daemon crashes")
        running?.cancel()
        self.store = nil
        engine = nil
        try store.close()
        databases.delete(old)
    }

    func end() throws {
        try crash()
        databases.delete(path)
        guard executor.drain(within: .seconds(600)) else {
            throw Violation(rule: .endsCleanly, detail: "something still waits ten minutes after the end")
        }
    }

    func sync(full: Bool) {
        guard let engine else { return }
        Task { [log, schema] in
            do throws(SyncError) {
                let names = Set(schema.entities.filter { $0.pull != nil }.map(\.name))
                try await engine.sync(SyncRequest(full: full, deletes: full ? names : []))
                log.add("synced")
            } catch {
                log.add("not synced: \(error)")
            }
        }
    }

    // MARK: Local writes

    /// Creates a record like one of the upstream's first ones, with references to local records.
    func create(_ entity: Entity) {
        guard let store, let engine, let field = marked(entity, for: .create),
            let template = samples[entity.name]?.first
        else { return }
        let marker = newMarker()
        var members: [(key: String, value: JSONText)] = []
        for known in entity.fields where entity.routes(for: .create).contains(where: { sends(known.name, $0, entity) })
        {
            if known.isDerivedHere || known.name == entity.pull?.changedAt { continue }
            switch known.kind {
            case .reference(let other):
                guard let key = pickLocal(other) else { continue }
                members.append((known.name, .string(key)))
            default:
                guard known.name != entity.key, let value = entity.value(of: known.name, in: template) else { continue }
                if value != .null { members.append((known.name, known.name == field ? .string(marker) : value)) }
            }
        }
        if !members.contains(where: { $0.key == field }) { members.append((field, .string(marker))) }
        let body = JSONText.object(members: members)
        perform(entity, marker, field, engine) { [clock] in
            try await store.create(entity.name, body: body, at: clock.timeOfDay)
        }
    }

    func edit(_ entity: Entity) {
        guard let store, let engine, let field = marked(entity, for: .update), let key = pickLocal(entity.name) else {
            return
        }
        let marker = newMarker()
        perform(entity, marker, field, engine) { [clock] in
            try await store.update(
                entity.name, key: key, body: .object(members: [(field, .string(marker))]), at: clock.timeOfDay)
            return key
        }
    }

    func delete(_ entity: Entity) {
        guard let store, let engine, !entity.push.delete.isEmpty, let key = pickLocal(entity.name) else { return }
        noteDeletion(of: entity.name)
        Task { [log, clock] in
            do {
                try await store.delete(entity.name, key: key, at: clock.timeOfDay)
                log.add("deleted locally: \(entity.name)/\(key)")
                engine.noteLocalWrite()
            } catch {
                log.add("not deleted: \(error)")
            }
        }
    }

    private func perform(
        _ entity: Entity, _ marker: String, _ field: String, _ engine: SyncEngine,
        _ write: @escaping @Sendable () async throws -> String
    ) {
        Task { [log, answered] in
            do {
                let key = try await write()
                answered.add(Write(entity: entity.name, key: key, marker: marker, field: field))
                log.add("\(marker) is acknowledged: \(entity.name)/\(key)")
                engine.noteLocalWrite()
            } catch {
                log.add("\(marker) is refused: \(error)")
            }
        }
    }

    // MARK: Upstream writes

    func editUpstream(_ entity: Entity) {
        guard let field = marked(entity, for: .update) ?? marked(entity, for: .create), let key = pickUpstream(entity)
        else {
            return
        }
        let text = "there-\(executor.random { $0.below(1_000_000) })"
        let change = JSONText.object(members: [(field, .string(text))])
        if (try? reference.update(entity.name, key, with: change)) != nil {
            log.add("\(entity.name)/\(key) is \(text)")
        }
    }

    func deleteUpstream(_ entity: Entity) {
        guard let key = pickUpstream(entity) else { return }
        noteDeletion(of: entity.name)
        if (try? reference.delete(entity.name, key)) != nil { log.add("deleted upstream: \(entity.name)/\(key)") }
    }

    // MARK: Parts

    /// A text field that users may change: nothing is derived from it and nothing refers to it.
    private func marked(_ entity: Entity, for operation: Operation) -> String? {
        entity.fields.first { field in
            field.kind == .string && field.name != entity.key && !field.isDerivedHere && !field.secret
                && field.source == nil && !field.name.hasSuffix("_id")
                && entity.routes(for: operation).contains { sends(field.name, $0, entity) }
        }?.name
    }

    private func sends(_ field: String, _ route: PushRoute, _ entity: Entity) -> Bool {
        route.canSend(field) || route.path.placeholders.contains(field) || field == entity.key
    }

    private func pickLocal(_ entity: String) -> String? {
        guard let store else { return nil }
        let keys = (try? CacheReader(store: store).visibleKeys(entity)) ?? []
        return keys.isEmpty ? nil : keys[executor.random { $0.below(keys.count) }]
    }

    private func pickUpstream(_ entity: Entity) -> String? {
        let keys = reference.records(of: entity.name).map { $0[entity.key]?.plain ?? "" }
        return keys.isEmpty ? nil : keys[executor.random { $0.below(keys.count) }]
    }

    private func noteDeletion(of entity: String) {
        var names: Set<String> = []
        func add(_ name: String) {
            guard names.insert(name).inserted else { return }
            for relation in schema[name]?.relations ?? [] {
                if case .many = relation.kind { add(relation.entity) }
            }
        }
        add(entity)
        deletedEntities.formUnion(names)
    }

    private func newMarker() -> String {
        lastMarker += 1
        return "w\(lastMarker)."
    }
}
