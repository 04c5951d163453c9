internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads a record at each address that it may have: a change made here may have moved it, and its answer may be lost, or
/// the upstream behind.
struct RecordPlaces {
    let store: CacheStore
    let upstream: any Upstream

    /// Nil if the upstream has it nowhere. At the other addresses, another record that the cache has does not count.
    func record(of entity: Entity, known: JSONText) async throws -> RemoteRecord? {
        if let found = try await upstream.record(of: entity, known: known) { return found }
        for other in try store.otherAddresses(of: known, entity) {
            if let found = try await upstream.record(of: entity, known: other),
                try isSame(found.record, as: known, entity)
            {
                return found
            }
        }
        return nil
    }

    /// A key that is made of the address changes with it.
    private func isSame(_ found: JSONText, as known: JSONText, _ entity: Entity) throws -> Bool {
        guard let key = found[entity.key]?.plain, !entity.isKey(key, of: known) else { return true }
        return try store.remoteState(of: key, entity.name) == .unknown(key: key)
    }
}
