internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Asks the upstream for one record when a caller wants to see its current version.
struct RecordRefresher: Sendable {
    private let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let coalescer: RequestCoalescer
    private let urgency: RequestBudget.Urgency

    init(
        _ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck,
        urgency: RequestBudget.Urgency = .urgent
    ) {
        self.urgency = urgency
        self.environment = environment
        self.monitor = monitor
        self.account = account
        coalescer = RequestCoalescer(clock: environment.clock, parallel: environment.settings.parallel)
    }

    private var store: CacheStore { environment.store }

    /// Brings the upstream's version of one record into the cache, as a page of one, or says why that cannot be done.
    ///
    /// Returns after ten seconds at the latest. The request is refused when any other request would be.
    func refresh(_ entity: Entity, key: String, for caller: ReadCaller) async -> RefreshOutcome {
        guard canRead(entity, key: key) else { return .unsupported }
        return await coalescer.outcome(of: RecordName(entity: entity.name, key: key), for: caller) {
            await read(entity, key: key, wasNamed: false)
        }
    }

    /// The same because of a signal, however long it takes. That a signal has named the record speaks for its absence.
    func readNamed(_ entity: Entity, key: String) async -> RefreshOutcome {
        guard canRead(entity, key: key) else { return .unsupported }
        return await read(entity, key: key, wasNamed: true)
    }

    private func read(_ entity: Entity, key: String, wasNamed: Bool) async -> RefreshOutcome {
        do {
            return try await ask(for: key, entity, wasNamed: wasNamed)
        } catch let error as UpstreamError {
            return RefreshOutcome(error)
        } catch let error as SyncError {
            return .unavailable("\(error)")
        } catch {
            environment.log.error("a record could not be refreshed", metadata: ["error": "\(error)"])
            return .unavailable("\(error)")
        }
    }

    /// No record has a longer key.
    private func canRead(_ entity: Entity, key: String) -> Bool { entity.pull != nil && key.utf8.count <= 500 }

    /// Whether the upstream is known to serve single records of the entity. Where it is not, a 404 says nothing.
    func hasServedSingles(of entity: Entity) -> Bool {
        (try? AbsenceJudge(environment, environment.upstream).hasServed(entity)) ?? false
    }

    private func ask(for key: String, _ entity: Entity, wasNamed: Bool) async throws -> RefreshOutcome {
        if let space = store.space, space.isLow {
            return .unavailable(
                "the disk has only \(space.free >> 20) MiB free, which are kept for your own changes; free some space")
        }
        let current: String
        let known: JSONText
        switch try store.remoteState(of: key, entity.name) {
        case .local: return .local
        case .unknown(let name):
            current = name
            known = JSONText.object(members: [(entity.key, entity.keyValue(name))])
        case .known(let name, let remote): (current, known) = (name, remote)
        }
        guard entity.recordPath(of: known) != nil else { return .unsupported }
        let upstream = monitor.askedUpstream(urgency)
        try await account.require(from: upstream)
        let position = try store.position()
        let judge = AbsenceJudge(environment, upstream)
        guard let found = try await judge.read(known, of: entity) else {
            return try await missing(current, entity, known, judge, position: position, wasNamed: wasNamed)
        }
        environment.absences.forget(RecordName(entity: entity.name, key: current))
        guard entity.isKey(current, of: found.record) else {
            // Some serve a record under its number as well.
            return .failed(
                "the upstream answered with \(entity.name)/\(entity.shownKey(of: found.record)) when asked for "
                    + "\(entity.name)/\(current); if that is the record, ask for it by that id")
        }
        let outcome = try await store.apply(page(of: found, entity, position), at: environment.now())
        for detail in entity.pull?.details ?? [] {
            guard let missing = outcome.children[detail.entity]?.missing, !missing.isEmpty else { continue }
            _ = try await MissingChildren(
                store: store, upstream: upstream, parent: entity, detail: detail, now: environment.now
            ).confirm(missing)
        }
        return .stored
    }

    private func page(of found: RemoteRecord, _ entity: Entity, _ position: Int64) -> PulledPage {
        var page = PulledPage(single: [found], of: entity, position: position)
        for detail in entity.pull?.details ?? [] where detail.path == nil {
            let reader = ChildReader(parent: entity, detail: detail)
            page.children += reader.pulled(
                reader.embedded(in: JSONText.array([found.record])).families, deletes: .none)
        }
        return page
    }

    /// The upstream answered that it has no such record.
    private func missing(
        _ key: String, _ entity: Entity, _ known: JSONText, _ judge: AbsenceJudge, position: Int64, wasNamed: Bool
    ) async throws -> RefreshOutcome {
        guard case .known = try store.remoteState(of: key, entity.name) else { return .absent }
        switch try await judge.verdict(on: known, of: entity, wasRead: true) {
        case .gone:
            let settle = environment.schema.upstream.settle
            let name = RecordName(entity: entity.name, key: key)
            guard
                wasNamed
                    || environment.absences.confirms(name, known: known, at: environment.monotonicNow(), after: settle)
            else {
                return .unavailable(
                    "the upstream answers that there is no \(entity.name)/\(key); it is deleted if a later read lacks it too"
                )
            }
            _ = try await store.delete([key], of: entity.name, position: position, at: environment.now())
            return .absent
        case .here(let found):
            environment.absences.forget(RecordName(entity: entity.name, key: key))
            _ = try await store.apply(page(of: found, entity, position), at: environment.now())
            return .stored
        case .settling:
            return .unavailable("\(entity.name)/\(key) was created a moment ago, and the upstream does not show it yet")
        case .cannotSay(let reason):
            return .unavailable("the upstream answers that there is no \(entity.name)/\(key), but \(reason)")
        }
    }
}
