internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

extension PulledPage {
    /// Records that were asked for by their keys; `position` is the end of the change log before they were.
    init(single records: [RemoteRecord], of entity: Entity, position: Int64) {
        self.init(
            entity: entity.name, records: .array(records.map(\.record)), position: position,
            version: records.count == 1 ? records[0].version : nil, view: .single)
    }
}

extension CacheStore {
    /// Writes records that were asked for by their keys; see `PulledPage.init(single:of:position:)`.
    @discardableResult
    func apply(
        _ records: [RemoteRecord], of entity: Entity, position: Int64, at now: Timestamp
    ) async throws -> PageOutcome {
        try await apply(PulledPage(single: records, of: entity, position: position), at: now)
    }
}
