internal import EntitySchema

/// The progress of the sync under way, or the outcome of the last one.
struct SyncRun {
    private(set) var number = 0
    private(set) var isRunning = false
    /// Whether it has sent, or is sending, all that callers who joined it had queued.
    private var isPushingTheRest = false
    private(set) var request = SyncRequest()
    var phase: String?
    var entities: [String: SyncStatus.Entity] = [:]
    private(set) var lastEndedAt: Timestamp?
    private(set) var lastSucceededAt: Timestamp?
    /// Consecutive runs that ended with an error.
    private(set) var failures = 0
    private var problem: String?
    private var unread: [(entity: String, error: String)] = []
    /// The number of entities of this run, and which of them are done: some are read again while another one takes long.
    private var expected = 1
    private var done: Set<String> = []

    /// What stopped the run; or else the failure of the first entity that was not read well since.
    var error: String? { problem ?? unread.first.map { "\($0.entity): \($0.error)" } }

    mutating func begin(_ request: SyncRequest) {
        number += 1
        isRunning = true
        isPushingTheRest = false
        self.request = request
        forgetErrors()
        done = []
        phase = nil
    }

    /// Whether the run under way does what is asked for, so that a caller may join it.
    func takesOn(_ request: SyncRequest) -> Bool { isRunning && !isPushingTheRest && self.request.covers(request) }

    /// Call it after everything was pulled.
    mutating func pushesTheRest() { isPushingTheRest = true }

    /// Stopped by a problem that concerns all entities.
    mutating func failed(_ problem: String) { self.problem = problem }

    mutating func forgetErrors() {
        problem = nil
        unread = []
    }

    mutating func expect(_ entities: Int) { expected = max(entities, 1) }

    mutating func started(_ entity: String) {
        entities[entity, default: SyncStatus.Entity(state: .syncing)].state = .syncing
        entities[entity]?.seen = 0
        entities[entity]?.total = nil
        phase = "pulling \(entity)"
    }

    /// The pull of an entity goes on, after others were read.
    mutating func continued(_ entity: String) { phase = "pulling \(entity)" }

    mutating func progressed(_ entity: String, seen: Int, total: Int?) {
        entities[entity]?.seen = seen
        entities[entity]?.total = total
    }

    mutating func finished(_ entity: String, error: String?, at time: Timestamp) {
        done.insert(entity)
        if error == nil { entities[entity]?.lastSyncedAt = time }
        entities[entity]?.state = error == nil ? .idle : .error
        unread.removeAll { $0.entity == entity }
        if let error { unread.append((entity, error)) }
    }

    /// Its pull was stopped by a problem of the whole upstream.
    mutating func interrupted(_ entity: String) { entities[entity]?.state = .idle }

    mutating func end(at time: Timestamp) {
        isRunning = false
        phase = nil
        lastEndedAt = time
        failures = error == nil ? 0 : failures + 1
        if error == nil { lastSucceededAt = time }
    }

    /// Each entity counts the same; one under way counts by its share of records pulled, unless it was done before.
    var progress: Double {
        guard isRunning else { return 1 }
        let parts = entities.filter { $0.value.state == .syncing && !done.contains($0.key) }.compactMap { _, entity in
            entity.total.map { $0 > 0 ? min(Double(entity.seen) / Double($0), 1) : 1 }
        }
        return min(parts.reduce(Double(done.count), +) / Double(expected), 1)
    }
}
