import Synchronization

/// Counts from 1.
package final class Counter: Sendable {
    private let last = Mutex(0)

    package init() {}

    /// How often `next` was called.
    package var count: Int { last.withLock { $0 } }

    @discardableResult
    package func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
