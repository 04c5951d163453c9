import Turns

/// Events of sources that have not had their turn yet, for a loop that is busy. Callers take turns, however many connections each
/// of them has.
struct LateEvents {
    /// What happened to each source, by its token.
    private var events: [UInt64: UInt32] = [:]
    /// The tokens of the sources, some of which may have ended. Nil: of no caller.
    private var turns = Turns<ConnectionHolder?, UInt64>()

    var isEmpty: Bool { events.isEmpty }

    /// What happens to a source that waits already is added to what happened before.
    mutating func add(_ new: UInt32, of token: UInt64, by caller: ConnectionHolder?) {
        if let known = events.updateValue(new, forKey: token) { return events[token] = known | new }
        turns.add(token, for: caller)
    }

    /// The next source and what happened to it; nil when none is left.
    mutating func next() -> (token: UInt64, events: UInt32)? {
        while let turn = turns.next() {
            if let events = events.removeValue(forKey: turn.item) { return (turn.item, events) }
        }
        return nil
    }

    /// Call this when a source ends: another one may get its token.
    mutating func forget(_ token: UInt64) { events[token] = nil }
}
