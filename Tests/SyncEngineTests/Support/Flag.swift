import Synchronization

/// Is raised until it is taken.
final class Flag: Sendable {
    private let isRaised = Mutex(true)

    func take() -> Bool {
        isRaised.withLock { isRaised in
            defer { isRaised = false }
            return isRaised
        }
    }
}
