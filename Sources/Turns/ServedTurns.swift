/// Turns that one task serves until none waits. The caller that adds the first item starts the task.
package struct ServedTurns<Caller: Hashable & Sendable, Item: Sendable>: Sendable {
    package private(set) var turns = Turns<Caller, Item>()
    private var isServed = false

    package init() {}

    /// Returns whether nothing is served yet: then start the task.
    package mutating func add(_ item: Item, for caller: Caller) -> Bool {
        turns.add(item, for: caller)
        defer { isServed = true }
        return !isServed
    }

    /// The item whose turn it is; nil if none waits.
    package mutating func next() -> Item? { turns.next()?.item }

    /// Whether the task has more to serve. If not, it ends, and the next item to be added needs another one.
    package mutating func goesOn() -> Bool {
        isServed = turns.count > 0
        return isServed
    }
}
