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
    private var entries: [String: [String: Stale]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func insert(_ key: String, of entity: String, _ cause: Cause, shown: JSONText? = nil) {
        let known = entries[entity]?[key]
        let strongest = known.map { max($0.cause.rawValue, cause.rawValue) } ?? cause.rawValue
        entries[entity, default: [:]][key] = Stale(
            cause: Cause(rawValue: strongest) ?? cause, shown: known?.shown ?? shown)
    }

    /// Removes and returns at most `limit` records of one entity; nil when there are none. The same records come in the
    /// same order in every run.
    mutating func take(atMost limit: Int) -> (entity: String, records: [String: Stale])? {
        guard let (entity, records) = entries.min(by: { $0.key < $1.key }) else { return nil }
        guard records.count > limit else {
            entries[entity] = nil
            return (entity, records)
        }
        let keys = records.keys.sorted().prefix(limit)
        let taken = Dictionary(uniqueKeysWithValues: keys.compactMap { key in records[key].map { (key, $0) } })
        for key in taken.keys { entries[entity]?[key] = nil }
        return (entity, taken)
    }
}
