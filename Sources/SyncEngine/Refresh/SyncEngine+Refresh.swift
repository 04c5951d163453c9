internal import CacheStore
package import EntitySchema
internal import JSONText
internal import Logging
internal import Upstream

/// Asking the upstream for one record because somebody wants to see it.
extension SyncEngine {
    /// Brings the upstream's version of one record into the cache, as a page of one, or says why that cannot be.
    ///
    /// Returns after ten seconds at the latest. Whether the upstream may be called is decided as for all work.
    package nonisolated func refresh(_ entity: Entity, key: String) async -> RefreshOutcome {
        // No record has a longer key, so there is none to be asked for.
        guard entity.pull != nil, key.utf8.count <= 500 else { return .unsupported }
        return await refreshes.outcome(of: RequestCoalescer.Name(entity: entity.name, key: key)) {
            do {
                return try await self.ask(for: key, entity)
            } catch let error as UpstreamError {
                return RefreshOutcome(error)
            } catch let error as SyncError {
                return .unavailable("\(error)")
            } catch {
                self.log.error("a record could not be refreshed", metadata: ["error": "\(error)"])
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
        try await requireAccount(watched)
        let position = try store.position()
        guard let found = try await watched.record(of: entity, known: known) else {
            return try await missing(current, entity, position: position)
        }
        await refreshes.noteServed(entity.name)
        guard found.record[entity.key]?.plain == current else {
            return .unavailable("the upstream answered another record than \(entity.name)/\(current)")
        }
        _ = try await store.apply(try page(of: found, entity, position), at: now())
        return .stored
    }

    private func page(of found: RemoteRecord, _ entity: Entity, _ position: Int64) throws -> PulledPage {
        let records = JSONText.array([found.record])
        var page = PulledPage(
            entity: entity.name, records: records.text, position: position, version: found.version)
        if let detail = entity.pull?.detail, detail.path == nil {
            let reader = ChildReader(parent: entity, detail: detail)
            let rows = try store.rowCounts()[detail.entity] ?? 0
            page.children = reader.pulled(
                reader.embedded(in: records).families,
                allowance: DeletionGuard(share: settings.deleteGuard).allowance(of: detail.entity, rows: rows))
        }
        return page
    }

    /// The upstream has no such record, if it serves such records by themselves at all: one that never did, and does not
    /// serve another that it lists either, has only no such address.
    private func missing(_ key: String, _ entity: Entity, position: Int64) async throws -> RefreshOutcome {
        guard case .known = try store.remoteState(of: key, entity.name) else { return .absent }
        if await !refreshes.hasServed(entity.name) {
            guard let other = try store.anotherRecord(of: entity.name, than: key),
                try await watched.record(of: entity, known: other) != nil
            else { return .unavailable("the upstream serves none of \(entity.name) by itself so far") }
            await refreshes.noteServed(entity.name)
        }
        try await store.forget(entity.name, key: key, position: position, at: now())
        return .absent
    }
}

extension RefreshOutcome {
    init(_ error: UpstreamError) {
        switch error {
        case .unclear(_, let message): self = .failed(message)
        case .offline, .throttled, .unauthorized, .changed, .gone, .refused, .malformed, .held, .cancelled:
            self = .unavailable(error.message)
        }
    }
}
