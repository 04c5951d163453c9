internal import EntitySchema

/// Distinguishes a limit on reading one list from one on all requests.
///
/// The first time that the upstream asks to wait with a list, everything waits. If other requests then get through, and
/// the upstream asks again to wait with the list, only the list waits. If it asks to wait with anything else,
/// everything waits, and other requests must get through again first.
struct ThrottledReads {
    private struct Entry {
        /// Until when the upstream asked to wait with the list.
        var until: Timestamp
        /// The end of the last wait of everything. Earlier answers do not count.
        var since: Timestamp
        var othersPass = false
        /// How many times in a row only the list had to wait.
        var times = 0
        var message: String
    }

    private var entries: [String: Entry] = [:]

    /// The upstream's message while only the list of the entity waits; nil if it may be read.
    func reason(_ entity: String, at now: Timestamp) -> String? {
        guard let entry = entries[entity], entry.othersPass, entry.until > now else { return nil }
        return entry.message
    }

    /// The upstream asked to wait until `end` with reading the entity. Returns how many times in a row only its list
    /// had to; nil if everything waits.
    mutating func wait(_ entity: String, until end: Timestamp, _ message: String) -> Int? {
        var entry = entries[entity] ?? Entry(until: end, since: end, message: message)
        (entry.until, entry.message) = (end, message)
        entry.times = entry.othersPass ? entry.times + 1 : 0
        entries[entity] = entry
        return entry.othersPass ? entry.times : nil
    }

    /// Everything waits until `end`.
    mutating func hold(until end: Timestamp) {
        for entity in entries.keys {
            entries[entity]?.othersPass = false
            entries[entity]?.since = end
        }
    }

    /// The upstream answered a request for the entity, or a change of it.
    mutating func pass(_ entity: String, isChange: Bool, at now: Timestamp) {
        for (other, entry) in entries where (isChange || other != entity) && now >= entry.since {
            entries[other]?.othersPass = true
        }
    }
}
