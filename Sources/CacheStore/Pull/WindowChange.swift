package import EntitySchema

/// What an entity's window includes that a pull with another one did not bring.
package enum WindowChange: Sendable, Equatable {
    /// Nothing: it is the same window.
    case none
    /// Nothing: it is narrower.
    case narrowed
    /// What the upstream lists up to here: the value of `{$until}`.
    case widened(until: String)
    /// What only the whole list shows.
    case other

    /// The value of `{$until}`; nil unless a pull has to send it.
    package var until: String? { if case .widened(let until) = self { until } else { nil } }

    /// What the next pull reads, in words.
    package var reads: String {
        switch self {
        case .none, .narrowed: "only what changed"
        case .widened(let until): "what is new up to \(until)"
        case .other: "the whole list"
        }
    }
}

extension CacheStore {
    /// How the entity's window differs from that of its last pull, by the definition that this left; nil for no window.
    package func windowChange(
        of entity: Entity, since last: String?, at serverNow: Timestamp
    ) throws -> WindowChange {
        let current = try windowDefinition(of: entity)
        guard current != last else { return .none }
        guard let new = current.flatMap(WindowDefinition.init(text:)), let old = last.flatMap(WindowDefinition.init(text:)),
            // Whether the list shows a field at all is found out by reading all of it.
            Set(new.test.names).isSubset(of: old.test.names), try untested(of: entity.name).isEmpty,
            // Of a window that opens with time, the last pull brought only what it included then.
            !old.opensWithTime, !new.opensWithTime
        else { return .other }
        // The old window may have left out records at a time that is a little later than the one that is measured now.
        let noted = try windowTime(of: entity.name).map { $0.time + Self.unnotedTime }
        let latest = max(serverNow, noted ?? serverNow)
        if new.isInside(old, at: serverNow), new.isInside(old, at: latest) { return .narrowed }
        guard let plan = entity.pull, plan.readsUntil, let bound = new.bound(of: old, at: latest) else { return .other }
        return plan.until(bound).map { .widened(until: $0) } ?? .other
    }
}
