internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Finds out whether an empty list of children says anything: an expired token, or an upstream that is ill, shows every
/// list empty. Another parent's list shows whether it is well.
struct FamilyWitness {
    let store: CacheStore
    let upstream: any Upstream
    let parent: Entity
    let detail: PullPlan.Detail

    private static let most = 3

    /// Whether one of up to three other parents with cached children lists some now. True also if there is no such
    /// parent, so that nothing could be asked.
    func isWell(than key: JSONText) async throws -> Bool {
        guard let template = detail.path, let by = detail.by else { return true }
        var asked = [key.plain]
        for _ in 1...Self.most {
            let other = try store.anotherParent(parent.name, than: asked, of: detail.entity, by: by)
            guard let other, let path = parent.path(template, of: other), let key = other[parent.key]?.plain else {
                return asked.count == 1
            }
            let page = try await upstream.page(PageRequest(entity: detail.entity, path: path, list: detail.list))
            if page.count > 0 { return true }
            asked.append(key)
        }
        return false
    }
}
