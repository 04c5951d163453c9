internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Finds out whether the token is valid, after a read that was answered 401.
struct TokenWitness {
    let environment: SyncEnvironment
    let account: AccountCheck
    /// Records no 401 to reads of an entity.
    let upstream: GuardedUpstream
    /// Entities that the account may not read.
    let unreadable: Set<String>

    private static let most = 3

    /// Whether another entity's list is served with content. Since a list may be public, the schema's check and the account
    /// are asked first. Throws `.unauthorized` if they are refused.
    func servesAnother(than entity: String) async throws -> Bool {
        try await upstream.confirmToken()
        await account.doubt()
        try await account.require(from: upstream)
        for request in try requests(than: entity).prefix(Self.most) where try await isServed(request) { return true }
        return false
    }

    /// Whether the page has content. One that fails, also with 401, has none, unless every other request would fail as well.
    private func isServed(_ request: PageRequest) async throws -> Bool {
        do {
            let page = try await upstream.page(request)
            page.share?.release()
            return page.count > 0
        } catch {
            if case .unauthorized = error { return false }
            guard !error.concernsWholeUpstream else { throw error }
            return false
        }
    }

    /// For first pages of lists; those whose records the cache has come first.
    private func requests(than entity: String) throws -> [PageRequest] {
        let rows = try environment.store.rowCounts()
        let others = environment.schema.entities.filter { $0.name != entity && !unreadable.contains($0.name) }
        let known = others.filter { rows[$0.name, default: 0] > 0 }
        let unknown = others.filter { rows[$0.name, default: 0] == 0 }
        return (known + unknown).compactMap { $0.pull?.request(of: $0.name) }
    }
}
