internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads records by their keys that come with their changed members alone, and that the cache lacks: without their other
/// members they would be incomplete until the next full pull.
///
/// At most a hundred a pull. The others, and those that cannot be read, are stored as they came.
struct UnknownReader {
    private let puller: Puller
    private let entity: Entity
    private let isPartial: Bool
    private var asked: Set<ExactText> = []
    private var failures = 0

    /// This many failures in a row concern more than single records.
    private static let mostFailures = 3

    init(_ puller: Puller, _ entity: Entity, _ plan: PullPlan) {
        self.puller = puller
        self.entity = entity
        isPartial = plan.deltaToken?.isPartial ?? false
    }

    /// Call it before pages of changes are written, so that a pull that is interrupted here asks again. Throws what
    /// concerns the whole upstream.
    mutating func read(of pages: [FetchedPage]) async throws {
        guard isPartial else { return }
        for record in pages.flatMap(\.page.records.elements) where try isUnknown(record) {
            do {
                try await read(record)
                failures = 0
            } catch let error as UpstreamError where !error.concernsWholeUpstream {
                failures += 1
            }
        }
    }

    /// Whether the cache lacks the record, and it may not be whole.
    private mutating func isUnknown(_ record: JSONText) throws -> Bool {
        guard failures < Self.mostFailures, asked.count < AbsenceJudge.most,
            let key = record[entity.key].flatMap(Entity.key), !asked.contains(key.exact), !entity.isDeleted(record),
            entity.recordPath(of: record) != nil,
            entity.fields.contains(where: { !$0.isDerivedHere && entity.value(of: $0.name, in: record) == nil }),
            try puller.store.remote(of: entity.name, key: key) == nil
        else { return false }
        asked.insert(key.exact)
        return true
    }

    private func read(_ record: JSONText) async throws {
        let position = try puller.store.position()
        guard let found = try await puller.judge.read(record, of: entity),
            entity.haveSameKey(found.record, record), !entity.isDeleted(found.record)
        else { return }
        try await puller.store.apply([found], of: entity, position: position, at: puller.now())
    }
}
