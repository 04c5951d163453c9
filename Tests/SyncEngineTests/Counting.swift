import Synchronization

/// Counts from 1.
final class Counting: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Raised until taken once.
final class Flag: Sendable {
    private let isRaised = Mutex(true)

    func take() -> Bool {
        isRaised.withLock { isRaised in
            defer { isRaised = false }
            return isRaised
        }
    }
}
