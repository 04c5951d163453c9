internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Decides about records that the upstream says were deleted, where that is not believed at once: each is asked for by
/// its key, up to a hundred.
struct HeldTombstones {
    let puller: Puller
    let entity: Entity
    let keys: [String]

    /// Returns how many were deleted, and how many are kept although it cannot be said that they are there.
    func resolve() async throws -> (deleted: Int, left: Int) {
        guard !keys.isEmpty else { return (0, 0) }
        let (store, position) = (puller.store, try puller.store.position())
        guard !puller.deletionGuard.confirmed.contains(entity.name) else {
            return (try await store.delete(keys, of: entity.name, position: position, at: puller.now()), 0)
        }
        var findings: AbsenceJudge.Findings?
        do {
            if keys.count <= AbsenceJudge.most {
                // Those that are here stay as the cache has them.
                findings = try await puller.judge.findings(on: suspects(), of: entity) { _ in }
            }
        } catch let error as UpstreamError where !error.concernsWholeUpstream {}
        let gone = findings?.gone ?? []
        let deleted = try await store.delete(gone, of: entity.name, position: position, at: puller.now())
        return (deleted, keys.count - gone.count - (findings?.here ?? 0))
    }

    /// Like `resolve`, for a list without times that names each deletion once: all are believed except those of records
    /// that the upstream still serves, because a list that lags also names what came back since. Throws if it cannot be
    /// asked; then nothing was deleted.
    func resolveUndated() async throws -> Int {
        guard !keys.isEmpty else { return 0 }
        let (store, position) = (puller.store, try puller.store.position())
        let suspects = keys.count <= AbsenceJudge.most ? try suspects() : []
        let here = try await puller.judge.here(among: suspects, of: entity)
        return try await store.delete(
            keys.filter { !here.contains($0.exact) }, of: entity.name, position: position, at: puller.now())
    }

    private func suspects() throws -> [CacheStore.UnseenRecord] {
        try keys.prefix(AbsenceJudge.most).compactMap { key in
            try puller.store.remote(of: entity.name, key: key).map { _ in CacheStore.UnseenRecord(key: key) }
        }
    }

    func words(_ left: Int) -> String { "the upstream marks \(left.grouped) \(entity.name) as deleted at once" }
}
