internal import JSONText

/// The records whose overlay a transaction has made stale: `DerivedRefresh` recomputes them at its end.
struct StaleRecords {
    /// In the order of their weight: the last of several causes counts.
    enum Cause: Int {
        /// A record that it is computed from changed, and the server may know about that.
        case sentChildren
        /// A record that it is computed from changed.
        case children
        /// Its server's version changed.
        case version
        /// Its owner was added or removed.
        case owner
    }

    struct Stale {
        var cause: Cause
        /// What readers saw of the fields that follow the queue, as an object.
        var shown: JSONText?
    }

    /// Entity → key → why.
    private var entries: [String: [ExactText: Stale]] = [:]
    /// The same of records whose figures can wait for more writes.
    private var postponed: [String: [ExactText: Stale]] = [:]
    /// Those that the write under way has had computed.
    private var computed: [String: [ExactText: Stale]] = [:]
    /// What is being taken: an entity, and some of its keys, the next one last.
    private var turn: (entity: String, keys: [ExactText]) = ("", [])

    mutating func insert(_ key: String, of entity: String, _ cause: Cause, shown: JSONText? = nil) {
        insert(key.exact, of: entity, cause, shown: shown)
    }

    private mutating func insert(_ key: ExactText, of entity: String, _ cause: Cause, shown: JSONText?) {
        let known = entries[entity]?[key]
        let strongest = known.map { max($0.cause.rawValue, cause.rawValue) } ?? cause.rawValue
        entries[entity, default: [:]][key] = Stale(
            cause: Cause(rawValue: strongest) ?? cause, shown: known?.shown ?? shown)
    }

    /// Removes and returns at most `limit` records of one entity; nil when there are none. The same records come in the
    /// same order in every run.
    ///
    /// All records that an entity has now come before what is noted meanwhile. So they are sorted once, and a record
    /// that is computed from many others is recomputed once after them, not after each part.
    mutating func take(atMost limit: Int) -> (entity: String, records: [ExactText: Stale])? {
        if turn.keys.isEmpty {
            guard let entity = entries.keys.min(), let records = entries[entity] else { return nil }
            turn = (entity, records.keys.sorted(by: >))
        }
        let entity = turn.entity
        var taken: [ExactText: Stale] = [:]
        for key in turn.keys.suffix(limit) { taken[key] = entries[entity]?.removeValue(forKey: key) }
        turn.keys.removeLast(min(limit, turn.keys.count))
        if entries[entity]?.isEmpty ?? false { entries[entity] = nil }
        return (entity, taken)
    }

    // MARK: Figures that wait

    /// Lets records wait that are stale only because of records that they are computed from, but not those of `entity`.
    mutating func postponeFigures(except entity: String) {
        for (other, records) in entries where other != entity {
            for (key, stale) in records where stale.cause.rawValue <= Cause.children.rawValue {
                postponed[other, default: [:]][key] = stale
                entries[other]?[key] = nil
            }
            if entries[other]?.isEmpty ?? false { entries[other] = nil }
        }
    }

    func hasPostponed(of entity: String) -> Bool { postponed[entity] != nil }

    /// Ends the wait of all.
    mutating func releaseFigures() {
        for (entity, records) in postponed {
            for (key, stale) in records { insert(key, of: entity, stale.cause, shown: stale.shown) }
        }
        computed = postponed
        postponed = [:]
    }

    /// Call this before each of several writes.
    mutating func beginWrite() { computed = [:] }

    /// Call this after a write was undone. What it had computed is stale again; what it only noted may be computed without need.
    mutating func undoWrite() {
        entries = [:]
        turn = ("", [])
        for (entity, records) in computed { postponed[entity, default: [:]].merge(records) { known, _ in known } }
        computed = [:]
    }
}
