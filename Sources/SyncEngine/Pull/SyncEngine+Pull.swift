internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Pulling every entity that a run asks for, in the schema's order; one that fails does not stop the others.
extension SyncEngine {
    /// What was loaded is searchable when this ends, be it by an error. `onlyChanges` leaves a full pull that is due for
    /// later.
    func pullEntities(_ request: SyncRequest, onlyChanges: Bool = false) async throws {
        do {
            try await pullAll(request, onlyChanges: onlyChanges)
        } catch {
            try await store.completeSearch()
            throw error
        }
        try await store.completeSearch()
    }

    private func pullAll(_ request: SyncRequest, onlyChanges: Bool) async throws {
        let lists = schema.entities.filter { $0.pull != nil && isAskedFor($0, by: request) }
        let details = schema.entities.compactMap { entity in
            entity.pull?.detail.map { (parent: entity, detail: $0) }
        }.filter { $0.detail.path != nil && isAskedFor($0.parent, by: request) }
        run.expect(lists.count + details.count)
        for entity in lists {
            let summary = try await guarded(entity.name) {
                try await pull(entity, full: request.full || !onlyChanges && isFullDue(entity), request)
            }
            if let summary, let detail = entity.pull?.detail, detail.path == nil {
                try await guarded(detail.entity) {
                    if let problem = summary.childProblem { throw UpstreamError.malformed(problem) }
                }
            }
        }
        // Children are asked for one parent at a time, which can take long.
        try await store.completeSearch()
        for (parent, detail) in details {
            try await guarded(detail.entity) {
                try await DetailPuller(puller: puller(of: detail.entity, request), parallel: settings.parallel)
                    .pull(for: parent, detail, all: request.full)
            }
        }
    }

    /// Children come with their parents, so who asks for them asks for those.
    private func isAskedFor(_ entity: Entity, by request: SyncRequest) -> Bool {
        request.includes(entity.name) || entity.pull?.detail.map { request.includes($0.entity) } ?? false
    }

    /// Once in a while, and when none ever ended. One that ended in the future did so by a clock that was wrong.
    private func isFullDue(_ entity: Entity) throws -> Bool {
        guard let last = try store.cursor(of: entity.name).lastFullAt else { return true }
        return last + settings.fullEvery <= now() || last > now()
    }

    private func puller(of entity: String, _ request: SyncRequest) -> Puller {
        Puller(
            store: store, upstream: watched(for: pullHeartbeat), clock: clock, now: now,
            deletionGuard: DeletionGuard(share: settings.deleteGuard, confirmed: request.deletes)
        ) { seen, total in
            await self.note(entity, seen: seen, total: total)
        }
    }

    private func pull(_ entity: Entity, full: Bool, _ request: SyncRequest) async throws -> PullSummary {
        pullsBegun[entity.name] = monotonicNow()
        let summary = try await puller(of: entity.name, request).pull(entity, full: full)
        measure(.pulled(entity: entity.name, written: summary.written, deleted: summary.deleted))
        log.info(
            "pulled",
            metadata: [
                "entity": "\(entity.name)", "seen": "\(summary.seen)", "written": "\(summary.written)",
                "deleted": "\(summary.deleted)", "set_aside": "\(summary.setAside)",
            ])
        if summary.held > 0 {
            log.warning(
                "records that the upstream no longer lists are kept; confirm with sync --full --delete",
                metadata: ["entity": "\(entity.name)", "records": "\(summary.held)"])
        }
        return summary
    }

    private func note(_ entity: String, seen: Int, total: Int?) {
        run.progressed(entity, seen: seen, total: total)
    }

    /// Keeps an entity's failure to itself, unless nothing else would fare better; nil then.
    @discardableResult
    private func guarded<Result>(_ entity: String, _ body: () async throws -> Result) async throws -> Result? {
        run.started(entity)
        let stopwatch = Stopwatch(clock)
        var outcome = SyncMeasurement.PullOutcome.failed
        defer { measure(.pull(entity: entity, outcome, duration: stopwatch.duration)) }
        do {
            let result = try await body()
            outcome = .completed
            run.finished(entity, error: nil, at: now())
            try await noteSuccess(of: entity)
            return result
        } catch let error as UpstreamError {
            if error.concernsWholeUpstream {
                outcome = .interrupted
                run.interrupted(entity)
                throw error
            }
            try await noteFailure(of: entity, error.message)
            // It was one failure too many: the others would only add to them.
            if health.isDown { throw error }
        } catch let error as CacheError {
            // A database that cannot be written now fails every entity.
            if case .unwritable = error { throw error }
            try await noteFailure(of: entity, "\(error)")
        }
        return nil
    }

    private func noteSuccess(of entity: String) async throws {
        var cursor = try store.cursor(of: entity)
        guard cursor.error != nil else { return }
        cursor.error = nil
        try await store.setCursor(of: entity, to: cursor)
    }

    private func noteFailure(of entity: String, _ message: String) async throws {
        run.finished(entity, error: message, at: now())
        log.error("pull failed", metadata: ["entity": "\(entity)", "error": "\(message)"])
        var cursor = try store.cursor(of: entity)
        cursor.error = message
        try await store.setCursor(of: entity, to: cursor)
    }
}
