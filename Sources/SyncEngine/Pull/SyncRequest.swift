/// What a sync is asked to pull.
package struct SyncRequest: Sendable, Equatable {
    /// Nil for all.
    package var entities: Set<String>?
    /// Pulls everything, regardless of the watermark.
    package var full: Bool
    /// Entities whose records a full pull may delete when it does not see them, however many; confirmed by a person.
    package var deletes: Set<String>

    package init(entities: Set<String>? = nil, full: Bool = false, deletes: Set<String> = []) {
        self.entities = entities
        self.full = full
        self.deletes = deletes
    }

    func includes(_ entity: String) -> Bool { entities?.contains(entity) ?? true }

    /// True when a sync for this request does everything that `other` asks for.
    func covers(_ other: SyncRequest) -> Bool {
        guard full || !other.full, other.deletes.isSubset(of: deletes) else { return false }
        guard let entities else { return true }
        return other.entities?.isSubset(of: entities) ?? false
    }

    func merged(with other: SyncRequest?) -> SyncRequest {
        guard let other else { return self }
        var both: Set<String>?
        if let mine = entities, let others = other.entities { both = mine.union(others) }
        return SyncRequest(entities: both, full: full || other.full, deletes: deletes.union(other.deletes))
    }
}
