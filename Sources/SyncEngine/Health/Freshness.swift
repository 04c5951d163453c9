internal import EntitySchema

/// Decides which edits are fresh and go out as they were made.
///
/// Any other edit was held up, and the record may have changed upstream since: it is merged with the server's version
/// before it is sent. For most entities a short pull does that for all held edits at once.
struct Freshness: Sendable {
    /// Since when the upstream has been callable, in monotonic time; edits made before had to wait.
    private(set) var callableSince: Timestamp
    /// When the last pull of each entity began, whether or not it succeeded.
    private var pullsBegun: [String: Timestamp] = [:]

    private static let longestWait = Duration.seconds(60)

    init(callableSince: Timestamp) {
        self.callableSince = callableSince
    }

    /// The upstream is callable from `time` on, after a pause or an outage.
    mutating func noteCallable(from time: Timestamp) { callableSince = max(callableSince, time) }

    mutating func notePull(of entity: String, at monotonicNow: Timestamp) { pullsBegun[entity] = monotonicNow }

    /// Whether held edits of the entity still need a pull before they are sent.
    func needsPull(of entity: String, at monotonicNow: Timestamp) -> Bool {
        pullsBegun[entity].map { $0 < monotonicNow - age(at: monotonicNow) } ?? true
    }

    /// The greatest age of a fresh edit, and of the pull that a held edit has been merged with.
    func age(at monotonicNow: Timestamp) -> Duration {
        min(max(monotonicNow.since(callableSince), .zero), Self.longestWait)
    }

    /// When fresh edits were made, by the time of day. An edit from the future was made before the clock was set back,
    /// so its time means nothing.
    func times(at now: Timestamp, monotonicNow: Timestamp) -> ClosedRange<Timestamp> {
        now - age(at: monotonicNow)...now
    }
}
