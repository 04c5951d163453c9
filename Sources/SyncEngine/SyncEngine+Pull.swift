internal import CacheStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// Pulling every entity that a run asks for, in the schema's order; one that fails does not stop the others.
extension SyncEngine {
    func pullEntities(_ request: SyncRequest) async throws {
        let lists = schema.entities.filter { $0.pull != nil && request.includes($0.name) }
        let details = schema.entities.compactMap { entity in
            entity.pull?.detail.map { (parent: entity, detail: $0) }
        }.filter { request.includes($0.detail.entity) || request.includes($0.parent.name) }
        run.expect(lists.count + details.count)
        for entity in lists {
            try await guarded(entity.name) {
                try await pull(entity, full: request.full || isFullDue(entity))
            }
        }
        for (parent, detail) in details {
            try await guarded(detail.entity) {
                try await DetailPuller(store: store, upstream: watched, parallel: settings.parallel, now: now)
                    .pull(for: parent, detail, all: request.full)
            }
        }
    }

    private func isFullDue(_ entity: Entity) throws -> Bool {
        try store.cursor(of: entity.name).lastFullAt.map { $0 + settings.fullEvery <= now() } ?? false
    }

    private func pull(_ entity: Entity, full: Bool) async throws {
        pullsBegun[entity.name] = now()
        let puller = Puller(store: store, upstream: watched, now: now) { seen, total in
            await self.note(entity.name, seen: seen, total: total)
        }
        let summary = try await puller.pull(entity, full: full)
        log.info(
            "pulled",
            metadata: [
                "entity": "\(entity.name)", "seen": "\(summary.seen)", "written": "\(summary.written)",
                "deleted": "\(summary.deleted)", "set_aside": "\(summary.setAside)",
            ])
    }

    private func note(_ entity: String, seen: Int, total: Int?) {
        run.progressed(entity, seen: seen, total: total)
    }

    /// Keeps an entity's failure to itself, unless nothing else would fare better.
    private func guarded(_ entity: String, _ body: () async throws -> Void) async throws {
        run.started(entity)
        do {
            try await body()
            run.finished(entity, error: nil, at: now())
        } catch let error as UpstreamError {
            if error.concernsWholeUpstream {
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
    }

    private func noteFailure(of entity: String, _ message: String) async throws {
        run.finished(entity, error: message, at: now())
        log.error("pull failed", metadata: ["entity": "\(entity)", "error": "\(message)"])
        var cursor = try store.cursor(of: entity)
        cursor.error = message
        try await store.setCursor(of: entity, to: cursor)
    }
}
