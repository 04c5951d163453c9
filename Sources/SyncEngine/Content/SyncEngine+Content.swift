internal import CacheStore
internal import ContentStore
package import EntitySchema
internal import Logging
internal import Upstream

/// Fetching what a record has besides its fields because somebody wants to see it.
extension SyncEngine {
    /// Fetches the content that the record names into the cache, or says why that cannot be; `.stored` once it is here.
    ///
    /// Callers who want the same join. Returns after half a minute at the latest; fetching goes on.
    package nonisolated func fetchContent(of key: String, _ entity: Entity) async -> RefreshOutcome {
        await fetches.outcome(of: RequestCoalescer.Name(entity: entity.name, key: key)) {
            do {
                return try await self.fetch(key, entity)
            } catch let error as UpstreamError {
                return RefreshOutcome(error)
            } catch let error as ContentError {
                return .failed("what was answered was not kept: \(error)")
            } catch let error as SyncError {
                return .unavailable("\(error)")
            } catch {
                self.log.error("a content could not be fetched", metadata: ["error": "\(error)"])
                return .unavailable("\(error)")
            }
        }
    }

    private func fetch(_ key: String, _ entity: Entity) async throws -> RefreshOutcome {
        guard let plan = entity.content, let contents else { return .unsupported }
        guard let status = try store.contentStatus(of: key, entity.name), let address = status.address else {
            return .absent
        }
        if watched.serves(address) { try await requireAccount(watched) }
        let draft = try contents.draft(limit: plan.maximumSize)
        let declared = try await watched.download(
            address, limit: plan.maximumSize, into: BodySink { (try? draft.write($0)) != nil })
        let type = try draft.type(saidToBe: declared, among: plan.types)
        let content = try await contents.finish(draft, type: type)
        try await store.keep(content, of: status.key, entity.name, from: address, at: now()) {
            try contents.install(draft, as: content.sha256)
        }
        return .stored
    }
}
