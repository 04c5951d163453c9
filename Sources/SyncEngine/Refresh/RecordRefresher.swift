internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import Upstream

/// Asks the upstream for one record when a caller wants to see its current version.
struct RecordRefresher: Sendable {
    private let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let coalescer: RequestCoalescer

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        coalescer = RequestCoalescer(clock: environment.clock, parallel: environment.settings.parallel)
    }

    private var store: CacheStore { environment.store }

    /// Brings the upstream's version of one record into the cache, as a page of one, or says why that cannot be done.
    ///
    /// Returns after ten seconds at the latest. The request is refused when any other request would be.
    func refresh(_ entity: Entity, key: String) async -> RefreshOutcome {
        // No record has a longer key.
        guard entity.pull != nil, key.utf8.count <= 500 else { return .unsupported }
        return await coalescer.outcome(of: RequestCoalescer.Name(entity: entity.name, key: key)) {
            do {
                return try await ask(for: key, entity)
            } catch let error as UpstreamError {
                return RefreshOutcome(error)
            } catch let error as SyncError {
                return .unavailable("\(error)")
            } catch {
                environment.log.error("a record could not be refreshed", metadata: ["error": "\(error)"])
                return .unavailable("\(error)")
            }
        }
    }

    private func ask(for key: String, _ entity: Entity) async throws -> RefreshOutcome {
        let known: JSONText
        var current = key
        switch try store.remoteState(of: key, entity.name) {
        case .local: return .local
        case .unknown: known = .object(members: [(key: entity.key, value: .string(key))])
        case .known(let name, let remote): (current, known) = (name, remote)
        }
        guard entity.recordPath(of: known) != nil else { return .unsupported }
        let upstream = monitor.guardedUpstream()
        try await account.require(from: upstream)
        let position = try store.position()
        guard let found = try await upstream.record(of: entity, known: known) else {
            return try await missing(current, entity, position: position)
        }
        await coalescer.noteServed(entity.name)
        guard found.record[entity.key]?.plain == current else {
            return .unavailable("the upstream answered another record than \(entity.name)/\(current)")
        }
        _ = try await store.apply(try page(of: found, entity, position), at: environment.now())
        return .stored
    }

    private func page(of found: RemoteRecord, _ entity: Entity, _ position: Int64) throws -> PulledPage {
        let records = JSONText.array([found.record])
        var page = PulledPage(
            entity: entity.name, records: records.text, position: position, version: found.version,
            view: .single)
        if let detail = entity.pull?.detail, detail.path == nil {
            let reader = ChildReader(parent: entity, detail: detail)
            let rows = try store.rowCounts()[detail.entity] ?? 0
            let deletionGuard = DeletionGuard(share: environment.settings.deleteGuard)
            page.children = reader.pulled(
                reader.embedded(in: records).families,
                allowance: deletionGuard.allowance(of: detail.entity, rows: rows))
        }
        return page
    }

    /// The upstream has no such record, provided that it serves single records of this entity. An upstream that never
    /// did, and does not serve another record that it lists, only lacks the address.
    private func missing(_ key: String, _ entity: Entity, position: Int64) async throws -> RefreshOutcome {
        guard case .known = try store.remoteState(of: key, entity.name) else { return .absent }
        if await !coalescer.hasServed(entity.name) {
            guard let other = try store.anotherRecord(of: entity.name, than: key),
                try await monitor.guardedUpstream().record(of: entity, known: other) != nil
            else { return .unavailable("the upstream serves none of \(entity.name) by itself so far") }
            await coalescer.noteServed(entity.name)
        }
        try await store.forget(entity.name, key: key, position: position, at: environment.now())
        return .absent
    }
}
