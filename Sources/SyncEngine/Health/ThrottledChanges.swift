internal import EntitySchema

/// Distinguishes a limit on one change, such as on how often a record may change, from one on all requests.
///
/// The first time that the upstream asks to wait with a change, everything waits. If others get through after that, and
/// it is asked to wait again, only the change waits, until it gets through. Several changes that are asked to wait with
/// none getting through in between show a limit on all requests.
///
/// If another change of the same route is asked to wait, and since the first one had a limit of its own only changes of
/// other routes got through, the limit is the route's: then all of its changes wait.
struct ThrottledChanges {
    /// What is limited. A route is an operation on an entity, with content or without.
    struct Change: Sendable, Equatable {
        var key: String
        var route: String

        /// `key`: the idempotency key.
        init(_ key: String, _ operation: Operation, of entity: String, _ hasContent: Bool = false) {
            self.key = key
            route = "\(operation) \(entity)\(hasContent ? " content" : "")"
        }

        /// The list of an entity, among lists.
        init(listOf entity: String) { (key, route) = (entity, entity) }
    }

    /// Who must wait.
    enum Limit: Sendable, Equatable {
        case everything(until: Timestamp)
        /// `times`: how often in a row only the change had to.
        case change(times: Int)
    }

    private struct Entry {
        var route: String
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
    /// When a change of each route got through last, by `clock`.
    private var passes: [String: Int] = [:]
    /// Until when the upstream asked to wait with each route that has a limit of its own.
    private var limited: [String: Timestamp] = [:]
    /// Until when other routes go first: several changes of this one were asked to wait, and none got through.
    private var turns: [String: Timestamp] = [:]

    /// What followed when the change was last asked to wait; nil if it got through since.
    func limit(on change: Change) -> Limit? { entries[change.key]?.limit }

    /// Whether all changes of the route must wait: the route is limited, or others have their turn first.
    func isRouteHeld(of change: Change, at now: Timestamp) -> Bool {
        [limited[change.route], turns[change.route]].contains { $0.map { $0 > now } ?? false }
    }

    /// The upstream did the change, or refused it for what it says.
    mutating func pass(_ change: Change, at now: Timestamp) {
        clock += 1
        entries[change.key] = nil
        lastPass = (clock, now)
        passes[change.route] = clock
        limited[change.route] = nil
    }

    /// The upstream answered a read of records.
    mutating func noteRead(at now: Timestamp) { lastRead = now }

    /// The upstream asked to wait until `end` with the change.
    mutating func noteWait(with change: Change, until end: Timestamp, at now: Timestamp) -> Limit {
        clock += 1
        // Discarded changes never get through.
        entries = entries.filter { $0.value.seenAt + Self.memory > now }
        var entry =
            entries[change.key]
            ?? Entry(route: change.route, since: end, limit: .everything(until: end), seenAt: now)
        let others = entries.filter { $0.key != change.key }.values
        let isOfRoute = limited[change.route] != nil || othersPass(than: change.route, since: others)
        if isOfRoute { limited[change.route] = end }
        if entry.alone == nil, isOfRoute || othersPass(since: entry.since, besides: others) { entry.alone = clock }
        let isAlone = entry.alone != nil || others.isEmpty && (lastRead.map { $0 >= entry.since } ?? false)
        entry.times = isAlone ? entry.times + 1 : 0
        entry.limit = isAlone ? .change(times: entry.times) : .everything(until: end)
        let lastOfRoute = passes[change.route] ?? 0
        if !isAlone, others.contains(where: { $0.route == change.route && $0.order > lastOfRoute }) {
            turns[change.route] = end + Self.turnOfOthers
        }
        (entry.order, entry.seenAt) = (clock, now)
        entries[change.key] = entry
        return entry.limit
    }

    /// Whether a change of the route has a limit of its own, and since then changes got through, but none of the route.
    private func othersPass(than route: String, since others: some Sequence<Entry>) -> Bool {
        others.contains { other in
            guard other.route == route, let alone = other.alone, passes[route] ?? 0 < alone else { return false }
            return passes.values.contains { $0 > alone }
        }
    }

    /// Whether a change got through, and none of the others was asked to wait after it, except those with a limit of their
    /// own.
    private func othersPass(since: Timestamp, besides others: some Sequence<Entry>) -> Bool {
        guard let lastPass, lastPass.at >= since else { return false }
        return others.allSatisfy { $0.order < lastPass.order || ($0.alone ?? .max) < lastPass.order }
    }

    /// Long enough for changes of other routes to be begun.
    static let turnOfOthers = Duration.seconds(1)
    /// Twice the longest wait.
    private static let memory = Duration.seconds(7200)
}
