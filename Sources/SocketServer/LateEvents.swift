/// Events of sources that have not had their turn yet, for a loop that is busy. Callers take turns, however many connections each
/// of them has.
struct LateEvents {
    /// What happened to each source, by its token.
    private var events: [UInt64: UInt32] = [:]
    /// The sources of each caller, oldest first; never empty. Nil: of no caller.
    private var waiting: [ConnectionHolder?: [UInt64]] = [:]
    /// The callers in the order of their turns.
    private var turns: [ConnectionHolder?] = []

    var isEmpty: Bool { turns.isEmpty }

    /// What happens to a source that waits already is added to what happened before.
    mutating func add(_ new: UInt32, of token: UInt64, by caller: ConnectionHolder?) {
        if let known = events.updateValue(new, forKey: token) { return events[token] = known | new }
        if waiting[caller] == nil { turns.append(caller) }
        waiting[caller, default: []].append(token)
    }

    /// The next source and what happened to it; nil when none is left.
    mutating func next() -> (token: UInt64, events: UInt32)? {
        while !turns.isEmpty {
            let caller = turns.removeFirst()
            guard var tokens = waiting.removeValue(forKey: caller) else { continue }
            let token = tokens.removeFirst()
            if !tokens.isEmpty {
                waiting[caller] = tokens
                turns.append(caller)
            }
            if let events = events.removeValue(forKey: token) { return (token, events) }
        }
        return nil
    }

    /// Call this when a source ends: another one may get its token.
    mutating func forget(_ token: UInt64) { events[token] = nil }
}
