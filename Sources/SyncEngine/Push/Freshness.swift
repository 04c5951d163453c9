internal import EntitySchema

/// Which edits go as they were made. The others have been held, and meet the server's version before they are sent: somebody
/// may have been there since.
struct Freshness: Sendable {
    /// Since when the upstream can be called, by the engine's steady time: what was made before had to wait.
    let callableSince: Timestamp

    private static let longestWait = Duration.seconds(60)

    /// How old an edit may be, and how long ago the pull that it has met.
    func age(at monotonicNow: Timestamp) -> Duration {
        min(max(monotonicNow.since(callableSince), .zero), Self.longestWait)
    }

    /// When a fresh edit was made, by the time of day. A time to come is of a clock that was set since, and tells nothing.
    func times(at now: Timestamp, monotonicNow: Timestamp) -> ClosedRange<Timestamp> {
        now - age(at: monotonicNow)...now
    }
}
