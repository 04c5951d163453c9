internal import CacheStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// Brings the next run forward when the token was refused.
protocol TokenRefusalObserver: Actor {
    func tokenWasRefused()
}

/// Verifies that the cache belongs to the account of the current token, before anything else is asked of the upstream.
///
/// Each run asks again if the last answer is a minute old, because some upstreams let a person choose the account that a token
/// stands for. All else asks once for each token: a refused token is forgotten, since the next one may belong to another account.
actor AccountCheck {
    private let environment: SyncEnvironment
    /// When the upstream last named the cache's account; nil while that is not known of the token.
    private var knownAt: Timestamp?
    /// How often the token was doubted: an answer that was asked for before says nothing.
    private var doubts = 0
    /// The other account that the upstream names, and since when; nil once it has named the cache's account.
    private var other: (account: String, since: Timestamp)?
    private weak var observer: (any TokenRefusalObserver)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(_ environment: SyncEnvironment) {
        self.environment = environment
    }

    func setObserver(_ observer: any TokenRefusalObserver) { self.observer = observer }

    /// Throws `SyncError.otherAccount` when the token belongs to another account than the cache.
    func require(from upstream: any Upstream) async throws {
        if knownAt == nil { try await ask(upstream) }
    }

    /// How long an answer counts for a run.
    static let confirmedEvery = Duration.seconds(60)

    /// The same at the start of a run. If the call alone fails, what is known counts.
    func confirm(from upstream: any Upstream) async throws {
        if let knownAt, environment.monotonicNow().since(knownAt) < Self.confirmedEvery { return }
        do {
            try await ask(upstream)
        } catch let error as UpstreamError where knownAt != nil && !error.concernsWholeUpstream {}
    }

    private func ask(_ upstream: any Upstream) async throws {
        let (store, asked) = (environment.store, doubts)
        if var account = try await upstream.account() {
            let known = try store.account()
            if let known, known != account.id { account = try await askAgain(upstream, after: account, known) }
            if known == nil { try await store.setAccount(account.id, at: environment.now()) }
            if let name = account.name { try await store.setAccountName(name) }
        }
        other = nil
        if doubts == asked { knownAt = environment.monotonicNow() }
    }

    /// Between two questions for an account that is not the cache's.
    static let pause = Duration.seconds(5)

    /// One wrong answer, such as another account's from a gateway, must not change the cache. Returns the cache's account
    /// if the upstream names that one now; throws `.otherAccount` when it names the same other one again.
    private func askAgain(
        _ upstream: any Upstream, after first: SignedInAccount, _ known: String
    ) async throws -> SignedInAccount {
        environment.log.warning(
            "the upstream names another account; asking again", metadata: ["account": "\(first.id)"])
        knownAt = nil
        try await believe(first)
        try await environment.clock.sleep(for: Self.pause)
        let answer = try await upstream.account()
        if let answer, answer.id == known { return answer }
        guard let answer, answer.id == first.id else {
            other = nil
            throw UpstreamError.held(
                "the upstream says that the token belongs to another account (\(first.id)), and then to "
                    + "\(answer?.id ?? "none"); nothing is synced until it says the same twice")
        }
        try await believe(answer)
        throw UpstreamError.held(
            "the upstream says that the token belongs to another account (\(answer.id)), but a gateway repeated the "
                + "answer (Age), which may be about another caller; nothing is synced until the upstream itself says so twice"
        )
    }

    /// Throws `.otherAccount` if the upstream itself has named this account before, and no other one since. What a gateway
    /// repeats says nothing. The cache's last pull may have read pages of that account, so its next one reads everything.
    private func believe(_ answer: SignedInAccount) async throws {
        guard !answer.isRepeated else { return }
        let now = environment.monotonicNow()
        guard let other, other.account == answer.id else { return other = (answer.id, now) }
        guard now.since(other.since) >= Self.pause else { return }
        try await environment.store.forgetLists(at: environment.now())
        throw SyncError.otherAccount(answer.id)
    }

    /// The token was refused: the next run checks the account first, and comes soon.
    func forget() async {
        doubt()
        await observer?.tokenWasRefused()
    }

    /// The token was refused again: the account is checked before anything else is sent.
    func doubt() {
        knownAt = nil
        doubts += 1
    }
}
