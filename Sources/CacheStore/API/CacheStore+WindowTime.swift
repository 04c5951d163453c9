package import EntitySchema

/// The upstream's time at which records were last left out of a window that moves with it.
///
/// A time that was wrong leaves out records that belong to the window and do not change, so no later pull for changes would
/// bring them back. When the time is seen to be earlier than it was, the window counts as another one.
extension CacheStore {
    /// Differences up to here are those of two measurements.
    private static let tolerance = Duration.seconds(60)
    /// Less than this is not remembered, so that not every page of a pull writes.
    static let unnotedTime = tolerance / 2

    /// `returns`: how often the time was seen to go back.
    func windowTime(of entity: String) throws -> (time: Timestamp, returns: Int)? {
        guard let parts = try setting("window-time:\(entity)")?.split(separator: " "), parts.count == 2,
            let milliseconds = Int64(parts[0]), let returns = Int(parts[1])
        else { return nil }
        return (Timestamp(milliseconds: milliseconds), returns)
    }

    /// Remembers that the entity's window was applied at this time, before or right after a record is left out for it.
    package func noteWindowTime(_ serverNow: Timestamp, of entity: Entity) async throws {
        guard entity.pull?.window?.usesTime == true else { return }
        let noted = try windowTime(of: entity.name)
        if let noted, serverNow <= noted.time + Self.unnotedTime { return }
        try await setWindowTime(serverNow, noted?.returns ?? 0, of: entity.name)
    }

    /// Makes the entity's window another one if records were left out of it at a time that has not come yet.
    package func takeBackWindowTime(of entity: Entity, at serverNow: Timestamp) async throws {
        guard entity.pull?.window?.usesTime == true, let noted = try windowTime(of: entity.name),
            serverNow + Self.tolerance < noted.time
        else { return }
        try await setWindowTime(serverNow, noted.returns &+ 1, of: entity.name)
    }

    private func setWindowTime(_ time: Timestamp, _ returns: Int, of entity: String) async throws {
        try await setSetting("window-time:\(entity)", to: "\(time.milliseconds) \(returns)")
    }

    /// How the entity's window differs from that of its last pull, by the definition that this left; nil for no window.
    package func windowChange(
        of entity: Entity, since last: String?, at serverNow: Timestamp
    ) throws -> WindowChange {
        let current = try windowDefinition(of: entity)
        guard current != last else { return .none }
        guard let new = current.flatMap(WindowDefinition.init(text:)),
            let old = last.flatMap(WindowDefinition.init(text:)),
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
