internal import Synchronization

/// Whose token the last one was that the upstream was asked about.
final class IdentityMemory: Sendable {
    private let value = Mutex<(token: String?, account: String)?>(nil)

    var last: (token: String?, account: String)? { value.withLock { $0 } }

    func note(account: String, of token: String?) { value.withLock { $0 = (token, account) } }
}
