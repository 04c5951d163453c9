internal import EntitySchema

/// Distinguishes a limit on one change, such as on how often a record may change, from one on all requests.
///
/// The first time that the upstream asks to wait with a change, everything waits. If others get through after that, and
/// it is asked to wait again, only the change waits, until it gets through. Several changes that are asked to wait with
/// none getting through in between show a limit on all requests. Changes are named by their idempotency keys.
struct ThrottledChanges {
    /// Who must wait.
    enum Limit: Sendable, Equatable {
        case everything(until: Timestamp)
        /// `times`: how often in a row only the change had to.
        case change(times: Int)
    }

    private struct Entry {
        /// The end of the first wait. What was under way before says nothing.
        var since: Timestamp
        var limit: Limit
        var seenAt: Timestamp
        /// When it was last asked to wait, by `clock`.
        var order = 0
        /// From when on others got through between its attempts, by `clock`.
        var alone: Int?
        var times = 0
    }

    private var entries: [String: Entry] = [:]
    /// Orders the answers.
    private var clock = 0
    private var lastPass: (order: Int, at: Timestamp)?
    private var lastRead: Timestamp?

    /// What followed when the change was last asked to wait; nil if it got through since.
    func limit(on change: String) -> Limit? { entries[change]?.limit }

    /// The upstream did the change, or refused it for what it says.
    mutating func pass(_ change: String, at now: Timestamp) {
        clock += 1
        entries[change] = nil
        lastPass = (clock, now)
    }

    /// The upstream answered a read of records.
    mutating func noteRead(at now: Timestamp) { lastRead = now }

    /// The upstream asked to wait until `end` with the change.
    mutating func wait(_ change: String, until end: Timestamp, at now: Timestamp) -> Limit {
        clock += 1
        // Discarded changes never get through.
        entries = entries.filter { $0.value.seenAt + Self.memory > now }
        var entry = entries[change] ?? Entry(since: end, limit: .everything(until: end), seenAt: now)
        let others = entries.filter { $0.key != change }.values
        if entry.alone == nil, othersPass(since: entry.since, besides: others) { entry.alone = clock }
        let isAlone = entry.alone != nil || others.isEmpty && (lastRead.map { $0 >= entry.since } ?? false)
        entry.times = isAlone ? entry.times + 1 : 0
        entry.limit = isAlone ? .change(times: entry.times) : .everything(until: end)
        (entry.order, entry.seenAt) = (clock, now)
        entries[change] = entry
        return entry.limit
    }

    /// Whether a change got through, and none of the others was asked to wait after it, except those with a limit of their
    /// own.
    private func othersPass(since: Timestamp, besides others: some Sequence<Entry>) -> Bool {
        guard let lastPass, lastPass.at >= since else { return false }
        return others.allSatisfy { $0.order < lastPass.order || ($0.alone ?? .max) < lastPass.order }
    }

    /// Twice the longest wait.
    private static let memory = Duration.seconds(7200)
}
