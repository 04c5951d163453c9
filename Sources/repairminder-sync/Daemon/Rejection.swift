import Synchronization

/// Why the configuration read last was rejected: the daemon says so, and services show it.
final class Rejection: Sendable {
    private let kept = Mutex<String?>(nil)

    /// Nil while the configuration read last is in use.
    var reason: String? {
        get { kept.withLock(\.self) }
        set { kept.withLock { $0 = newValue } }
    }
}
