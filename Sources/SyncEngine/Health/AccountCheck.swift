internal import CacheStore
internal import Upstream

/// Brings the next run forward when the token was refused.
protocol TokenRefusalObserver: Actor {
    func tokenWasRefused()
}

/// Verifies that the cache belongs to the account of the current token, before anything else is asked of the upstream.
///
/// The check is made once for each token: a refused token is forgotten, since the next one may belong to another
/// account.
actor AccountCheck {
    private let environment: SyncEnvironment
    private var isKnown = false
    private weak var observer: (any TokenRefusalObserver)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(_ environment: SyncEnvironment) {
        self.environment = environment
    }

    func setObserver(_ observer: any TokenRefusalObserver) { self.observer = observer }

    /// Throws `SyncError.otherAccount` when the token belongs to another account than the cache.
    func require(from upstream: any Upstream) async throws {
        guard !isKnown else { return }
        let store = environment.store
        if let account = try await upstream.account() {
            let known = try store.setting("account")
            guard known == nil || known == account.id else { throw SyncError.otherAccount(account.id) }
            if known == nil { try await store.setAccount(account.id, at: environment.now()) }
            if let name = account.name { try await store.setAccountName(name) }
        }
        isKnown = true
    }

    /// The token was refused: the next run checks the account first, and comes soon.
    func forget() async {
        isKnown = false
        await observer?.tokenWasRefused()
    }
}
