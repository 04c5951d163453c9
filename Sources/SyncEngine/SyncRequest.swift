/// What a sync is asked to pull.
package struct SyncRequest: Sendable, Equatable {
    /// Nil for all.
    package var entities: Set<String>?
    /// Everything, whatever the watermark.
    package var full: Bool

    package init(entities: Set<String>? = nil, full: Bool = false) {
        self.entities = entities
        self.full = full
    }

    func includes(_ entity: String) -> Bool { entities?.contains(entity) ?? true }

    /// True when a sync of this request does all that `other` asks for.
    func covers(_ other: SyncRequest) -> Bool {
        guard full || !other.full else { return false }
        guard let entities else { return true }
        return other.entities?.isSubset(of: entities) ?? false
    }

    func merged(with other: SyncRequest?) -> SyncRequest {
        guard let other else { return self }
        var both: Set<String>?
        if let mine = entities, let others = other.entities { both = mine.union(others) }
        return SyncRequest(entities: both, full: full || other.full)
    }
}
