internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Brings the cache in line with the schema's windows once lists were read: records that left go, and records outside
/// that kept ones refer to are read one by one.
struct WindowSweep {
    let puller: Puller

    private var store: CacheStore { puller.store }

    /// `readsReferences`: something may have come that refers to records which are not cached.
    func run(readsReferences: Bool) async throws -> [String: Int] {
        let left = try await store.leaveWindows(at: puller.now(), serverNow: puller.upstreamTime)
        guard readsReferences else { return left }
        for entity in puller.schema.entities where entity.pull?.window?.keepsReferenced == true {
            do {
                try await readReferences(to: entity)
            } catch let error as UpstreamError where !error.concernsWholeUpstream {}
        }
        return left
    }

    /// Reads at most a hundred; the next pull reads the others. Stops where the upstream serves no single records.
    private func readReferences(to entity: Entity) async throws {
        let keys = try store.missingReferences(to: entity, limit: AbsenceJudge.most, at: puller.now())
        var absent: [String] = []
        for key in keys {
            let known = JSONText.object(members: [(entity.key, entity.keyValue(key))])
            guard entity.recordPath(of: known) != nil else { return }
            let position = try store.position()
            guard let found = try await puller.judge.read(known, of: entity), found.record[entity.key]?.plain == key,
                !entity.isDeleted(found.record)
            else {
                absent.append(key)
                if absent.count >= 3, try !puller.judge.hasServed(entity) { break }
                continue
            }
            _ = try await store.apply(
                PulledPage(single: [found], of: entity, position: position), at: puller.now())
        }
        try await store.noteAbsent(absent, of: entity.name, at: puller.now())
    }
}
