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
