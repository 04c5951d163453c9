/// What waits, by who asked for it. Callers take turns, however much one of them asks for; of each, the oldest comes first.
package struct Turns<Caller: Hashable & Sendable, Item: Sendable>: Sendable {
    /// Oldest first; never empty.
    private var waiting: [Caller: [Item]] = [:]
    /// Those who wait, in the order of their turns.
    private var callers: [Caller] = []

    package init() {}

    package var count: Int { waiting.values.reduce(0) { $0 + $1.count } }

    package func count(of caller: Caller) -> Int { waiting[caller]?.count ?? 0 }

    package mutating func add(_ item: Item, for caller: Caller) {
        if waiting[caller] == nil { callers.append(caller) }
        waiting[caller, default: []].append(item)
    }

    /// Takes the next item of the first caller who may have a turn now; nil if none of those who wait may.
    package mutating func next(where mayTake: (Caller) -> Bool = { _ in true }) -> (caller: Caller, item: Item)? {
        guard let place = callers.firstIndex(where: mayTake) else { return nil }
        let caller = callers.remove(at: place)
        // Taken out first: an array that the dictionary holds too would be copied.
        guard var items = waiting.removeValue(forKey: caller) else { return nil }
        let item = items.removeFirst()
        if !items.isEmpty {
            waiting[caller] = items
            callers.append(caller)
        }
        return (caller, item)
    }
}
