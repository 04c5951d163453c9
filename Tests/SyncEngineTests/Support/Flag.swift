import Synchronization

/// A flag whose first `take()` returns true, and every later one false.
final class Flag: Sendable {
    private let isRaised = Mutex(true)

    func take() -> Bool {
        isRaised.withLock { isRaised in
            defer { isRaised = false }
            return isRaised
        }
    }
}
