internal import EntitySchema

/// Distinguishes a limit on one list from one on all requests.
///
/// The first time that the upstream asks to wait with a list, everything waits, and the list is the last one to be read after
/// that. If others are read to their end first, and it is asked to wait with the list again, only this list waits.
struct ThrottledLists {
    private var lists = ThrottledChanges()
    private var waits: [String: Timestamp] = [:]

    /// Whether the upstream has asked to wait with the list since it was read to its end.
    func isSuspect(_ entity: String) -> Bool { lists.limit(on: ThrottledChanges.Change(listOf: entity)) != nil }

    /// Until when this list alone waits; nil if it may be read.
    func wait(with entity: String, at now: Timestamp) -> Timestamp? { waits[entity].flatMap { $0 > now ? $0 : nil } }

    /// The list was read to its end.
    mutating func pass(_ entity: String, at now: Timestamp) {
        lists.pass(ThrottledChanges.Change(listOf: entity), at: now)
        waits[entity] = nil
    }

    /// The upstream asked to wait until `end` with the list. Returns how often in a row only the list had to; nil if
    /// everything must.
    mutating func noteWait(with entity: String, until end: Timestamp, at now: Timestamp) -> Int? {
        let limit = lists.noteWait(with: ThrottledChanges.Change(listOf: entity), until: end, at: now)
        guard case .change(let times) = limit else { return nil }
        waits[entity] = end
        return times
    }
}
