internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Finds out whether a creation was applied when its answer was lost and no idempotency key allows a blind repeat.
///
/// An upstream whose lists lag behind does not show a record that it has, and one that answered late or not at all may
/// still be applying it. So a record counts as absent only once the time to settle has passed, and either its list has a
/// change from after the attempt, or two readings agree.
struct CreateReconciler {
    enum Finding {
        /// The upstream has it, as this record.
        case applied(RemoteRecord)
        /// The upstream does not have it: send it again.
        case absent
        /// It cannot be said yet: ask again later. The text says why.
        case notYet(String)
        /// It cannot be found out; the text says why, for the person who has to.
        case unknowable(String)
    }

    let environment: SyncEnvironment
    let upstream: any Upstream
    let change: OutboxChange
    let entity: Entity
    /// When it begins to read; all that it reads was answered after that.
    let now: Timestamp
    /// How far the server's clock is ahead; nil if it was never measured.
    let clockOffset: Duration?
    /// Of one reading of a list: each takes some memory.
    var mostRecords = 1_000_000

    init(_ environment: SyncEnvironment, _ upstream: any Upstream, _ change: OutboxChange, _ entity: Entity) {
        (self.environment, self.upstream, self.change, self.entity) = (environment, upstream, change, entity)
        (now, clockOffset) = (environment.now(), environment.clockOffset())
    }

    private var store: CacheStore { environment.store }
    private var settle: Duration { environment.schema.upstream.settle }
    private var reader: RecordReader { RecordReader(store: store, upstream: upstream) }
    var judge: AbsenceJudge { AbsenceJudge(environment, upstream) }

    func finding() async throws -> Finding {
        do {
            return try await lookUp()
        } catch UpstreamError.gone(let status, let message) {
            // The list of its siblings is gone: with their parent, or behind a gateway.
            guard hasSettled() else { return .notYet(message) }
            guard let parent = try reader.parent(of: entity, change.record) else {
                throw UpstreamError.gone(status: status, message)
            }
            let verdict = try await judge.verdict(on: parent.record, of: parent.entity)
            if verdict == .gone { return .absent }
            guard case .here = verdict, try isOnlyListed(parent.record, of: parent.entity) else {
                throw UpstreamError.gone(status: status, message)
            }
            let key = parent.entity.shownKey(of: parent.record)
            return .unknowable("\(message), although the list of \(parent.entity.name) has \(key)")
        }
    }

    /// Whether the upstream, which has the record in its list, does not serve it by its key, nor has it ever served another
    /// one of its entity. Then waiting does not help, as it does while a gateway is at fault.
    private func isOnlyListed(_ record: JSONText, of entity: Entity) throws -> Bool {
        try entity.recordPath(of: record) != nil && !judge.hasServed(entity)
    }

    private func lookUp() async throws -> Finding {
        let route = entity.route(for: .create, record: change.record)
        switch route?.lookUp {
        case nil: return .unknowable("the schema has no look_up")
        case .key: return try await findingByKey()
        case .match(let fields, let path, let list):
            let sent = fields.filter { change.body[$0] != nil }
            guard let request = listRequest(path, list), !sent.isEmpty else {
                return .unknowable("the look-up finds nothing to compare by")
            }
            let among = route?.shownAmong ?? [:]
            return try await CreationSearch(self, request, by: sent, of: fields, among: among).finding()
        }
    }

    /// Asks for the list at `path`, or for all of the entity's own. Nil if the record lacks a value of the path.
    private func listRequest(_ path: Template?, _ list: ListPlan) -> PageRequest? {
        guard let path else {
            var request = entity.pull?.request(of: entity.name)
            request?.list = list
            return request
        }
        return entity.path(path, of: change.record).map { PageRequest(entity: entity.name, path: $0, list: list) }
    }

    /// Whether the upstream shows everything that the attempt did, wherever it is asked; `age`: of the answer that shows it.
    func hasSettled(before age: Duration = .zero) -> Bool {
        guard let attempt = change.lastAttemptAt, attempt <= now else { return true }
        return now.since(attempt) - age >= settle
    }

    /// Whether the change was first sent under its idempotency key within the time to settle. Until that is over, the upstream
    /// is taken to know the key, the attempt may still be in progress, and readings may be older than it.
    var wasFirstSentRecently: Bool {
        guard let first = change.firstAttemptAt ?? change.lastAttemptAt, first <= now else { return false }
        return now.since(first) < settle
    }

    // MARK: By the key

    private func findingByKey() async throws -> Finding {
        do {
            return try await findingBySingle()
        } catch UpstreamError.refused, UpstreamError.another {
            return try await findingInList()
        }
    }

    /// Searches the list of an upstream that serves no single records.
    private func findingInList() async throws -> Finding {
        guard let plan = entity.pull, change.body[entity.key] != nil else {
            return .unknowable("the upstream serves no single \(entity.name)")
        }
        let request = plan.request(of: entity.name)
        return try await CreationSearch(self, request, by: [entity.key], of: [entity.key]).finding()
    }

    private func findingBySingle() async throws -> Finding {
        if let found = try await own() { return .applied(found) }
        guard hasSettled() else { return .notYet("the upstream does not show the record yet") }
        // That it has another one shows that it serves single records, and this account.
        if try store.anotherRecord(of: entity.name, than: [change.key]).flatMap(entity.recordPath) != nil,
            try await !judge.servesAnother(of: entity, than: [change.key])
        {
            guard try judge.hasServed(entity) else { return try await findingInList() }
            guard try await judge.servesListed(of: entity, than: [change.key]) else {
                throw UpstreamError.unclear(
                    status: 404, "asked for a record that it lists, the upstream answers that there is none")
            }
        }
        if let found = try await own() { return .applied(found) }
        return .absent
    }

    /// What the upstream has under the key; nil if it has nothing there. Throws `.another` for another record. One whose key
    /// differs is the creation's only with what was sent.
    private func own() async throws -> RemoteRecord? {
        guard let found = try await reader.answer(of: entity, known: change.record) else { return nil }
        guard let key = found.record[entity.key]?.plain, key.exact != change.key.exact else { return found }
        let isKnown = try store.wasKnown(key, before: change)
        guard change.isMade(into: found.record, of: entity, isKnown: isKnown) else {
            throw RecordReader.anotherRecord(found.record, than: change.record, entity)
        }
        return found
    }
}
