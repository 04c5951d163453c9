internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Asks the upstream for the current version of one record.
///
/// A record that is served only with its parent is searched among the parent's children (`pull.detail`).
struct RecordReader {
    let store: CacheStore
    let upstream: any Upstream

    /// Nil when the upstream has no such record, or cannot be asked for it: see `canRead`. Throws `.another` when it
    /// answers with another record that the cache has as well.
    func record(of entity: Entity, known: JSONText) async throws -> RemoteRecord? {
        guard let found = try await answer(of: entity, known: known) else { return nil }
        guard try !isAnother(found.record, than: known, entity) else {
            throw Self.anotherRecord(found.record, than: known, entity)
        }
        return found
    }

    static func anotherRecord(_ answered: JSONText, than known: JSONText, _ entity: Entity) -> UpstreamError {
        .another(
            "asked for \(entity.name)/\(entity.shownKey(of: known)), the upstream answered with "
                + entity.shownKey(of: answered))
    }

    /// An unknown key may be a new name of the record.
    private func isAnother(_ answered: JSONText, than known: JSONText, _ entity: Entity) throws -> Bool {
        guard let asked = known[entity.key]?.plain, let key = answered[entity.key]?.plain, key.exact != asked.exact,
            case .known(let current, _) = try store.remoteState(of: key, entity.name)
        else { return false }
        switch try store.remoteState(of: asked, entity.name) {
        case .known(let own, _), .unknown(let own): return own.exact != current.exact
        case .local: return true
        }
    }

    /// The same as `record`, but whatever record the upstream answers with.
    func answer(of entity: Entity, known: JSONText) async throws -> RemoteRecord? {
        guard entity.pull == nil else {
            return try await RecordPlaces(store: store, upstream: upstream).record(of: entity, known: known)
        }
        guard let family = try family(of: entity, known) else { return nil }
        if let child = child(known, among: try await children(of: family), entity) { return record(of: family, child) }
        return try await childElsewhere(known, entity)
    }

    /// Whether the upstream has an address for the record.
    func canRead(_ entity: Entity, _ known: JSONText) throws -> Bool {
        try entity.pull == nil ? family(of: entity, known) != nil : entity.recordPath(of: known) != nil
    }

    // MARK: Children of a parent

    /// The parent of the record and its last version from the upstream, if the record is served only with it. Of one that
    /// the cache no longer has, only the key.
    func parent(of entity: Entity, _ known: JSONText) throws -> (entity: Entity, record: JSONText)? {
        if let family = try family(of: entity, known) { return (family.parent, family.record) }
        for (parent, detail) in store.schema.parents(of: entity) {
            guard let key = detail.by.flatMap({ entity.value(of: $0, in: known) }), key.kind != .null else { continue }
            return (parent, .object([parent.key: key]))
        }
        return nil
    }

    /// What the list of the record's siblings says of it. A list that may lack some says nothing, nor does an empty one
    /// while all others like it are empty.
    func verdictOfSiblings(of entity: Entity, _ known: JSONText) async throws -> AbsenceJudge.Verdict {
        guard let family = try family(of: entity, known) else { return .cannotSay("its parent is not known") }
        let siblings = try await children(of: family)
        if let found = child(known, among: siblings, entity) { return .here(record(of: family, found)) }
        if let found = try await childElsewhere(known, entity) { return .here(found) }
        guard siblings.isComplete else { return .cannotSay("the list of \(entity.name) may lack some") }
        guard siblings.children.isEmpty else { return .gone }
        let witness = FamilyWitness(store: store, upstream: upstream, parent: family.parent, detail: family.detail)
        return try await witness.isWell(than: family.key)
            ? .gone : .cannotSay("every list of \(entity.name) is empty now")
    }

    private func child(_ known: JSONText, among siblings: ChildReader.Family, _ entity: Entity) -> JSONText? {
        siblings.children.first { entity.haveSameKey($0, known) }
    }

    /// The record in the list of another parent, to which a change made here may have moved it.
    private func childElsewhere(_ known: JSONText, _ entity: Entity) async throws -> RemoteRecord? {
        for other in try store.otherAddresses(of: known, entity) {
            guard let family = try family(of: entity, other) else { continue }
            if let found = child(known, among: try await children(of: family), entity) {
                return record(of: family, found)
            }
        }
        return nil
    }

    private func record(of family: Family, _ child: JSONText) -> RemoteRecord {
        RemoteRecord(ChildReader(parent: family.parent, detail: family.detail).child(of: family.key, child, family.by))
    }

    /// An answered record, with the reference to its parent added if the upstream left it out.
    func withParent(_ answer: RemoteRecord, of entity: Entity, like known: JSONText) -> RemoteRecord {
        var answer = answer
        for (parent, detail) in store.schema.parents(of: entity) {
            guard let by = detail.by, let key = known[by] else { continue }
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
        for (parent, detail) in store.schema.parents(of: entity) {
            guard let by = detail.by, let key = entity.value(of: by, in: known)?.plain,
                let record = try store.remote(of: parent.name, key: key)
            else { continue }
            return Family(
                parent: parent, detail: detail, record: record, by: by, key: record[parent.key] ?? .string(key))
        }
        return nil
    }

    private func children(of family: Family) async throws -> ChildReader.Family {
        let reader = store.childReader(family.parent, family.detail)
        var found = try await reader.family(of: family.record, key: family.key, from: upstream)
        // The upstream may cut them at another number by now. A pull finds out.
        if let cut = reader.cut, found.children.count > cut { found.isComplete = false }
        return found
    }
}
