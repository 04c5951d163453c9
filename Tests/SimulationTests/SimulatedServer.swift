import EntitySchema
import JSONText
import Synchronization

/// The upstream's own state: the truth that caches are held against.
///
/// It counts every change it makes, remembers what it answered under which idempotency key, and keeps every version of
/// every record that it has ever had, so that a cache can be asked where it got a value from.
final class SimulatedServer: Sendable {
    struct Row: Sendable {
        var key: String
        /// As it is listed; a deleted one says so, where the entity has tombstones.
        var record: JSONText
        var changedAt: Timestamp
        /// The number of the change that made it so.
        var version: Int
        var isDeleted = false
        /// When others could first see this version; its change time may be long before.
        var visibleAt: Duration
    }

    /// A change that came from a daemon and was made.
    struct Effect: Sendable {
        var daemon: Int
        var idempotencyKey: String
        var operation: Operation
        var entity: String
        var key: String
        /// The marked values that it brought.
        var markers: [String]
        /// What was there before.
        var replaced: [String]
        /// Of the marked values, those that a record had from an earlier change, and lost to somebody else's edit; and
        /// those of records that were deleted since.
        var overwritten: Set<String> = []
        var vanished: Set<String> = []
    }

    struct State: Sendable {
        var tables: [String: [String: Row]] = [:]
        var history: [String: Set<String>] = [:]
        /// When a value came up: the change times of all versions that had it, by entity, field and value.
        var changeTimes: [FieldValue: Set<Timestamp>] = [:]
        var answers: [String: RemoteAnswer] = [:]
        var effects: [Effect] = []
        var version = 0
        var lastKey = 0
        /// Entities and records (`entity/key`) for which nothing works.
        var poisoned: [String: Poison] = [:]
    }

    enum Poison: String, Sendable, CaseIterable {
        case alwaysFails, alwaysRefuses
        /// Its list goes round in circles.
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
    let variety: Variety
    let executor: SimulatedExecutor
    let log: EventLog
    let state = Mutex(State())

    init(schema: EntitySchema, variety: Variety, executor: SimulatedExecutor, log: EventLog) {
        self.schema = schema
        self.variety = variety
        self.executor = executor
        self.log = log
    }

    var now: Timestamp { time(at: executor.now) }

    /// What its clock shows at a moment of the simulation.
    func time(at moment: Duration) -> Timestamp {
        SimulatedClock.beginning + moment + .milliseconds(variety.serverClockError)
    }

    // MARK: Looking

    /// Records that are there, by key.
    func records(_ entity: String) -> [Row] {
        state.withLock { state in
            (state.tables[entity] ?? [:]).values.filter { !$0.isDeleted }.sorted { $0.key < $1.key }
        }
    }

    func row(_ entity: String, _ key: String) -> Row? { state.withLock { $0.tables[entity]?[key] } }

    /// Rows as a list of them was ever answered: with tombstones.
    func rows(_ entity: String) -> [Row] {
        state.withLock { state in (state.tables[entity] ?? [:]).values.sorted { $0.key < $1.key } }
    }

    var effects: [Effect] { state.withLock { $0.effects } }

    /// Whether a record has ever been exactly this here.
    func hasSaid(_ text: String, of entity: String, _ key: String) -> Bool {
        state.withLock { $0.history["\(entity)/\(key)"]?.contains(text) ?? false }
    }

    /// The change times that a record was listed with while a field of it had this value.
    func changeTimes(of value: FieldValue) -> Set<Timestamp> { state.withLock { $0.changeTimes[value] ?? [] } }

    func poison(_ what: String, _ poison: Poison?) { state.withLock { $0.poisoned[what] = poison } }
    func heal() { state.withLock { $0.poisoned = [:] } }
    var poisoned: [String] { state.withLock { $0.poisoned.keys.sorted() } }

    // MARK: Other people's changes

    /// Somebody makes a record; returns its key. `late`: how long after its change time others can see it.
    @discardableResult
    func create(_ entity: String, _ members: [(key: String, value: JSONText)], late: Duration = .zero) -> String {
        let changed = now
        let key = state.withLock { state in
            state.lastKey += 1
            return "\(entity.prefix(1))\(state.lastKey)"
        }
        let body = JSONText.object(members: [(key: "id", value: .string(key))] + members)
        commit(after: late) { state in
            // Nobody visits a customer who has gone meanwhile.
            if entity == "visits", self.customer(of: body, state) == nil { return }
            self.put(entity, key, body, changedAt: changed, &state)
        }
        return key
    }

    func update(_ entity: String, _ key: String, _ body: JSONText, late: Duration = .zero) {
        let changed = now
        commit(after: late) { state in
            guard let row = state.tables[entity]?[key], !row.isDeleted else { return }
            self.put(entity, key, row.record.setting(body), changedAt: max(changed, row.changedAt), &state)
        }
    }

    func delete(_ entity: String, _ key: String) { state.withLock { remove(entity, key, &$0) } }

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
        touchParent(of: entity, row.record, &state)
        guard entity == "customers" else { return }
        for visit in (state.tables["visits"] ?? [:]).values.sorted(by: { $0.key < $1.key })
        where visit.record["customer_id"] == .string(key) { remove("visits", visit.key, &state) }
    }

    /// Visits are served with their customer only, who therefore counts as changed when they are, at a time of its own.
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
        state.tables[entity, default: [:]][row.key] = row
        state.history["\(entity)/\(row.key)", default: []].insert(row.record.text)
        for (field, value) in row.record.members where Variety.markedFields[entity]?.contains(field) == true {
            state.changeTimes[FieldValue(entity: entity, field: field, value: value.text), default: []]
                .insert(row.changedAt)
        }
        log.add("server has \(entity)/\(row.key) v\(row.version): \(row.record.text)")
    }
}
