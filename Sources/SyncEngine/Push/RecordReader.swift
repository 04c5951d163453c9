internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Asks the upstream for the current version of one record.
///
/// A record that is served only with its parent is searched among the parent's children (`pull.detail`).
struct RecordReader {
    let schema: EntitySchema
    let store: CacheStore
    let upstream: any Upstream

    /// Nil when the upstream has no such record, or cannot be asked for it: see `canRead`.
    func record(of entity: Entity, known: JSONText) async throws -> RemoteRecord? {
        guard entity.pull == nil else { return try await upstream.record(of: entity, known: known) }
        guard let family = try family(of: entity, known) else { return nil }
        let found = try await children(of: family).first { $0[entity.key]?.plain == known[entity.key]?.plain }
        return found.map {
            RemoteRecord(ChildReader(parent: family.parent, detail: family.detail).child(of: family.key, $0, family.by))
        }
    }

    /// Whether the upstream has an address for the record.
    func canRead(_ entity: Entity, _ known: JSONText) throws -> Bool {
        try entity.pull == nil ? family(of: entity, known) != nil : entity.recordPath(of: known) != nil
    }

    // MARK: Children of a parent

    /// The parent of the record and its last version from the upstream, if the record is served only with it.
    func parent(of entity: Entity, _ known: JSONText) throws -> (entity: Entity, record: JSONText)? {
        try family(of: entity, known).map { ($0.parent, $0.record) }
    }

    /// Whether the list of the record's siblings is not just one of many that are empty now.
    func showsSiblings(of entity: Entity, _ known: JSONText) async throws -> Bool {
        guard let family = try family(of: entity, known) else { return false }
        if try await !children(of: family).isEmpty { return true }
        return try await FamilyWitness(
            store: store, upstream: upstream, parent: family.parent, detail: family.detail
        ).isWell(than: family.key)
    }

    /// An answered record, with the reference to its parent added if the upstream left it out.
    func withParent(_ answer: RemoteRecord, of entity: Entity, like known: JSONText) -> RemoteRecord {
        var answer = answer
        for parent in schema.entities {
            guard let detail = parent.pull?.detail, detail.entity == entity.name, let by = detail.by,
                let key = known[by]
            else { continue }
            answer.record = ChildReader(parent: parent, detail: detail).child(of: key, answer.record, by)
        }
        return answer
    }

    private struct Family {
        var parent: Entity
        var detail: PullPlan.Detail
        var record: JSONText
        /// The field of the children that holds the parent's key, and the key.
        var by: String
        var key: JSONText
    }

    /// The parent of the record, as the upstream last answered it; nil if the cache has none.
    private func family(of entity: Entity, _ known: JSONText) throws -> Family? {
        for parent in schema.entities {
            guard let detail = parent.pull?.detail, detail.entity == entity.name, let by = detail.by,
                let key = entity.value(of: by, in: known)?.plain,
                let record = try store.remote(of: parent.name, key: key)
            else { continue }
            return Family(
                parent: parent, detail: detail, record: record, by: by, key: record[parent.key] ?? .string(key))
        }
        return nil
    }

    private func children(of family: Family) async throws -> [JSONText] {
        guard let template = family.detail.path else {
            // They are embedded in the parent's record.
            let record = try await upstream.record(of: family.parent, known: family.record)?.record
            return record.flatMap { family.detail.list.records.value(in: $0) }?.elements ?? []
        }
        guard let path = family.parent.path(template, of: family.record) else { return [] }
        var found = ChildReader.Family(key: family.key, children: [], isComplete: false)
        try await ChildReader(parent: family.parent, detail: family.detail).fetch(&found, at: path, from: upstream)
        return found.children
    }
}
