import EntitySchema
import JSONText
import Synchronization

/// The upstream's own state, which caches are compared with.
///
/// It numbers every change, stores the answer for each idempotency key, and keeps every version of every record, so the
/// checks can verify where a cached value came from.
final class SimulatedServer: Sendable {
    struct Row: Sendable {
        var key: String
        /// As listed; a deleted record is marked when the entity has tombstones.
        var record: JSONText
        var changedAt: Timestamp
        /// The number of the change that produced this version.
        var version: Int
        var isDeleted = false
        /// When others could first see this version, which may be long after its change time.
        var visibleAt: Duration
        /// The number of the change that made the record, or restored it.
        var bornAs = 0
        var bornAt = Duration.zero
    }

    /// A daemon's change that was applied.
    struct Effect: Sendable {
        var daemon: Int
        var idempotencyKey: String
        var operation: Operation
        var entity: String
        var key: String
        /// The marked values in it.
        var markers: [String]
        /// The values that it replaced.
        var replaced: [String]
        /// Those of the marked values that a record had from an earlier change and that another user's edit replaced; and
        /// those of records that were deleted since.
        var overwritten: Set<String> = []
        var vanished: Set<String> = []
    }

    /// A deletion as a list of deletions has it, also of a record that was restored since.
    struct Deletion: Sendable {
        var key: String
        var at: Timestamp
        var version: Int
        var moment: Duration
    }

    struct State: Sendable {
        var tables: [String: [String: Row]] = [:]
        var history: [String: Set<String>] = [:]
        /// The change times of all versions with a value, by entity, field and value.
        var changeTimes: [FieldValue: Set<Timestamp>] = [:]
        var answers: [String: RemoteAnswer] = [:]
        var effects: [Effect] = []
        var version = 0
        /// Of orders, oldest first.
        var deletions: [Deletion] = []
        /// No token is forgotten, and no list of deletions fails.
        var isCalm = false
        var lastKey = 0
        /// Entities and records (`entity/key`) for which every request fails.
        var poisoned: [String: Poison] = [:]
    }

    enum Poison: String, Sendable, CaseIterable {
        case alwaysFails, alwaysRefuses
        /// Its list never ends: pages point back to earlier ones.
        case alwaysLoops
    }

    struct FieldValue: Hashable, Sendable {
        var entity: String
        var field: String
        var value: String
    }

    struct RemoteAnswer: Sendable {
        var record: JSONText?
    }

    let schema: EntitySchema
    let settings: SimulationSettings
    let executor: SimulatedExecutor
    let log: EventLog
    let signals: SimulatedSignals
    let state = Mutex(State())

    init(schema: EntitySchema, settings: SimulationSettings, executor: SimulatedExecutor, log: EventLog) {
        self.schema = schema
        self.settings = settings
        self.executor = executor
        self.log = log
        signals = SimulatedSignals(feeds: settings.feeds, executor: executor, log: log)
    }

    var now: Timestamp { time(at: executor.now) }

    /// What its clock shows at a moment of the simulation.
    func time(at moment: Duration) -> Timestamp {
        SimulatedClock.beginning + moment + .milliseconds(settings.serverClockError)
    }

    // MARK: Reading

    /// The records that are not deleted, sorted by key.
    func records(_ entity: String) -> [Row] {
        state.withLock { state in
            (state.tables[entity] ?? [:]).values.filter { !$0.isDeleted }.sorted { $0.key < $1.key }
        }
    }

    func row(_ entity: String, _ key: String) -> Row? { state.withLock { $0.tables[entity]?[key] } }

    /// All rows including tombstones, sorted by key.
    func rows(_ entity: String) -> [Row] {
        state.withLock { state in (state.tables[entity] ?? [:]).values.sorted { $0.key < $1.key } }
    }

    var effects: [Effect] { state.withLock { $0.effects } }

    /// Whether a record ever had exactly this text upstream.
    func hasSaid(_ text: String, of entity: String, _ key: String) -> Bool {
        versions(of: entity, key).contains(text)
    }

    /// All that a record has ever been.
    func versions(of entity: String, _ key: String) -> Set<String> {
        state.withLock { $0.history["\(entity)/\(key)"] ?? [] }
    }

    /// The change times of all versions that had this value.
    func changeTimes(of value: FieldValue) -> Set<Timestamp> { state.withLock { $0.changeTimes[value] ?? [] } }

    func poison(_ what: String, _ poison: Poison?) { state.withLock { $0.poisoned[what] = poison } }
    func heal() { state.withLock { $0.poisoned = [:] } }
    func calm() { state.withLock { $0.isCalm = true } }
    var isCalm: Bool { state.withLock { $0.isCalm } }
    var poisoned: [String] { state.withLock { $0.poisoned.keys.sorted() } }

    // MARK: Other users' changes

    /// Another user creates a record; returns its key. `late`: how long after its change time others can see it.
    @discardableResult
    func create(_ entity: String, _ members: [(key: String, value: JSONText)], late: Duration = .zero) -> String {
        let changed = now
        let key = state.withLock { state in
            state.lastKey += 1
            return "\(entity.prefix(1))\(state.lastKey)"
        }
        let body = JSONText.object(members: [(key: "id", value: .string(key))] + members)
        if late > .zero { signals.announce(entity, key) }
        commit(after: late) { state in
            // The customer may have been deleted meanwhile.
            if entity == "visits", self.customer(of: body, state) == nil { return }
            self.put(entity, key, body, changedAt: changed, &state)
        }
        return key
    }

    func update(_ entity: String, _ key: String, _ body: JSONText, late: Duration = .zero) {
        let changed = now
        // Before anyone can see it.
        if late > .zero { signals.announce(entity, key) }
        commit(after: late) { state in
            guard let row = state.tables[entity]?[key], !row.isDeleted else { return }
            self.put(entity, key, row.record.setting(body), changedAt: max(changed, row.changedAt), &state)
        }
    }

    func delete(_ entity: String, _ key: String) { state.withLock { remove(entity, key, &$0) } }

    /// Another user brings a deleted record back, under its key.
    func restore(_ entity: String, _ key: String) {
        state.withLock { state in
            guard let row = state.tables[entity]?[key], row.isDeleted else { return }
            put(
                entity, key, row.record.without("deleted"), changedAt: max(now, row.changedAt + .milliseconds(1)),
                &state)
        }
    }

    private func commit(after late: Duration, _ change: @escaping @Sendable (inout State) -> Void) {
        guard late > .zero else { return state.withLock { change(&$0) } }
        executor.after(late) { self.state.withLock { change(&$0) } }
    }

    // MARK: Changing

    func put(_ entity: String, _ key: String, _ body: JSONText, changedAt: Timestamp, _ state: inout State) {
        var record = body
        if schema[entity]?[field: "updated_at"] != nil {
            record = record.setting("updated_at", to: .string(changedAt.description))
        }
        store(Row(key: key, record: record, changedAt: changedAt, version: 0, visibleAt: executor.now), entity, &state)
        touchParent(of: entity, record, &state)
    }

    func remove(_ entity: String, _ key: String, _ state: inout State) {
        guard var row = state.tables[entity]?[key], !row.isDeleted else { return }
        row.isDeleted = true
        row.changedAt = max(now, row.changedAt)
        row.visibleAt = executor.now
        let mark: JSONText = entity == "customers" ? .string(now.description) : true
        row.record = row.record.setting("updated_at", to: .string(row.changedAt.description))
        row.record = row.record.setting(entity == "customers" ? "deleted_at" : "deleted", to: mark)
        store(row, entity, &state)
        if entity == "orders" {
            state.deletions.append(
                Deletion(key: key, at: row.changedAt, version: state.version, moment: executor.now))
        }
        touchParent(of: entity, row.record, &state)
        guard entity == "customers" else { return }
        for visit in (state.tables["visits"] ?? [:]).values.sorted(by: { $0.key < $1.key })
        where visit.record["customer_id"] == .string(key) { remove("visits", visit.key, &state) }
    }

    /// Visits are served only with their customer, so the customer counts as changed with them, at a new change time.
    private func touchParent(of entity: String, _ record: JSONText, _ state: inout State) {
        guard entity == "visits", let row = customer(of: record, state) else { return }
        put("customers", row.key, row.record, changedAt: max(now, row.changedAt + .milliseconds(1)), &state)
    }

    private func customer(of visit: JSONText, _ state: State) -> Row? {
        let row = visit["customer_id"]?.string.flatMap { state.tables["customers"]?[$0] }
        return row?.isDeleted == false ? row : nil
    }

    private func store(_ row: Row, _ entity: String, _ state: inout State) {
        var row = row
        state.version += 1
        row.version = state.version
        let before = state.tables[entity]?[row.key]
        let alive = before.flatMap { $0.isDeleted ? nil : $0 }
        row.bornAs = alive?.bornAs ?? row.version
        row.bornAt = alive?.bornAt ?? executor.now
        state.tables[entity, default: [:]][row.key] = row
        state.history["\(entity)/\(row.key)", default: []].insert(row.record.text)
        for (field, value) in row.record.members where SimulationSettings.isWritten(field, of: entity) {
            state.changeTimes[FieldValue(entity: entity, field: field, value: value.text), default: []]
                .insert(row.changedAt)
        }
        log.add("server has \(entity)/\(row.key) v\(row.version): \(row.record.text)")
        signals.announce(entity, row.key)
    }
}
