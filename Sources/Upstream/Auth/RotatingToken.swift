internal import EntitySchema

/// A token that is renewed when it expires: by the schema's `auth.refresh`, or by a sign-in with stored credentials.
///
/// Requests that find it expired at the same time share one exchange. The new tokens are on disk before they are used,
/// because an upstream that rotates refresh tokens no longer accepts the old one, and because a restart then needs no
/// sign-in. `login` replaces the file and `logout` removes it, while this runs; each request looks for that first.
package actor RotatingToken: Credentials {
    private let refresh: TokenRefresh?
    private let signIn: StoredSignIn?
    private let store: TokenStore
    private let now: @Sendable () -> Timestamp
    /// As they are on disk; nil before the first read, and after a sign-out.
    private var tokens: Tokens?
    /// The file that `tokens` were read from; nil if it must be read again.
    private var file: PrivateFile.Identity?
    /// Whether there were tokens since the start.
    private var wasSignedIn = false
    /// From an exchange and not on disk yet; they must not be used before they are.
    private var unsaved: Tokens?
    private var running: Task<Result<Tokens, UpstreamError>, Never>?
    /// The last access token that the upstream refused.
    private var refused: String?
    private var refusal: Refusal?
    private var pace: SignInPace
    private var refreshPace = UnclearPace()

    private struct Refusal {
        var token: String
        var time: Timestamp
        var error: UpstreamError
    }

    /// How long a refused refresh token is not sent again.
    private static let retryAfterRefusal = Duration.seconds(60)

    /// Without secrets, there is no automatic sign-in. `refusals` remembers across restarts that they were refused.
    package init(_ access: UpstreamAccess, store: TokenStore, refusals: SignInRefusalFile? = nil) {
        let (plan, caller) = (access.plan, HTTPCaller(access, deadline: .seconds(15)))
        refresh = plan.refresh.map {
            TokenRefresh(plan: $0, caller: caller, secrets: access.secrets, login: store.login)
        }
        signIn = access.secrets.flatMap { secrets in
            plan.session.map { StoredSignIn(call: $0, secrets: secrets, caller: caller) }
        }
        self.store = store
        now = access.now
        pace = SignInPace(address: caller.baseURL, file: refusals)
    }

    /// Renews a token that is about to expire. One that cannot be renewed now is used until it expires.
    ///
    /// Nil before the first sign-in, for an upstream that serves guests as well. Throws after a sign-out: what a guest is
    /// shown must not replace what the account has.
    package func current() async throws(UpstreamError) -> String? {
        try look()
        guard let known = tokens else {
            if signIn != nil { return try await renewed().access }
            guard !wasSignedIn else { throw .unauthorized(notSignedIn) }
            return nil
        }
        guard known.isDue(at: now()), signIn != nil || refresh?.isPossible(with: known) == true else {
            return known.access
        }
        do throws(UpstreamError) {
            return try await renewed().access
        } catch {
            // Someone may have signed out meanwhile.
            try look()
            guard error != .cancelled, let tokens, !tokens.hasEnded(at: now()) else { throw error }
            return tokens.access
        }
    }

    package func renew(refused token: String?) async throws(UpstreamError) -> Bool {
        if let tokens, tokens.access != token { return true }
        if let tokens, refused != token {
            refused = token
            pace.noteRefusal(of: tokens, at: now())
        }
        _ = try await renewed()
        return true
    }

    package func noteSuccess(of token: String?) { pace.noteSuccess(of: token) }

    package var missing: String? {
        do {
            if try store.load() != nil { return nil }
        } catch {
            if signIn == nil { return nil }
        }
        guard let signIn else { return notSignedIn }
        return signIn.secrets.problem(with: signIn.call.secretNames)
    }

    /// Notices a sign-in and a sign-out by another process.
    private func look() throws(UpstreamError) {
        let found = store.identity
        if let found, found == file { return }
        do {
            tokens = try store.load()
        } catch {
            // The next sign-in replaces it; until then, what is in memory counts.
            guard signIn != nil else { throw .unauthorized(error.message) }
        }
        file = found
        if tokens != nil { wasSignedIn = true }
    }

    private var notSignedIn: String { "not signed in; run \(store.login)" }

    // MARK: One shared exchange

    /// Not cancelled with the caller: an interrupted exchange may have used up the refresh token.
    private func renewed() async throws(UpstreamError) -> Tokens {
        if let running { return try await running.value.get() }
        let task = Task { await exchange() }
        running = task
        return try await task.value.get()
    }

    private func exchange() async -> Result<Tokens, UpstreamError> {
        defer { running = nil }
        do throws(UpstreamError) {
            let next = try await next()
            tokens = next
            file = nil
            unsaved = nil
            return .success(next)
        } catch {
            return .failure(error)
        }
    }

    private func next() async throws(UpstreamError) -> Tokens {
        let saved = try load()
        guard saved != nil || signIn != nil else { throw .unauthorized(notSignedIn) }
        if saved != tokens {
            unsaved = nil
            if let saved, !saved.hasEnded(at: now()) { return saved }
        }
        if let unsaved {
            try save(unsaved)
            return unsaved
        }
        let fresh = try await obtained(from: saved)
        let kept = try load()
        if kept != saved {
            guard let kept else { throw .unauthorized("signed out while the token was being renewed") }
            return kept
        }
        unsaved = fresh
        try save(fresh)
        return fresh
    }

    private func obtained(from saved: Tokens?) async throws(UpstreamError) -> Tokens {
        if let saved, let refresh, refresh.isPossible(with: saved), !mustSignIn(saved, refresh) {
            do throws(UpstreamError) {
                return try await refreshed(saved, refresh)
            } catch {
                guard signIn != nil, case .unauthorized = error else { throw error }
            }
        }
        guard let signIn else {
            throw .unauthorized("the token has expired and there is no refresh token; run \(store.login)")
        }
        return try await signedIn(signIn)
    }

    /// Whether a refresh is pointless: the token that it would send no longer counts.
    private func mustSignIn(_ saved: Tokens, _ refresh: TokenRefresh) -> Bool {
        signIn != nil && refresh.sendsAccess && (saved.access == refused || saved.hasEnded(at: now()))
    }

    private func refreshed(_ saved: Tokens, _ refresh: TokenRefresh) async throws(UpstreamError) -> Tokens {
        let proof = refresh.proof(in: saved)
        if let refusal, refusal.token == proof, (.zero..<Self.retryAfterRefusal).contains(now().since(refusal.time)) {
            throw refusal.error
        }
        try refreshPace.check(proof, at: now())
        do throws(UpstreamError) {
            let fresh = try await refresh.tokens(for: saved, beside: tokens?.access)
            refreshPace.clear()
            return fresh
        } catch {
            var error = error
            if case .malformed(let message) = error {
                guard signIn != nil else { throw refreshPace.note(proof, message, at: now()) }
                // A sign-in may help where a refresh does not.
                error = .unauthorized(message)
            }
            guard case .unauthorized = error else { throw error }
            if let other = try load(), other != saved { return other }
            refusal = Refusal(token: proof, time: now(), error: error)
            throw error
        }
    }

    private func signedIn(_ signIn: StoredSignIn) async throws(UpstreamError) -> Tokens {
        let request = try signIn.request()
        try pace.check(request, at: now())
        do throws(UpstreamError) {
            let tokens = try await signIn.tokens(request)
            pace.noteSignIn(tokens, at: now())
            return tokens
        } catch {
            switch error {
            case .unauthorized: pace.noteRefusal(of: request, error, at: now())
            case .malformed(let message): throw pace.noteUnclear(request, message, at: now())
            default: break
            }
            throw error
        }
    }

    // MARK: The file

    /// Nil also for a file that cannot be used, if a sign-in can replace it.
    private func load() throws(UpstreamError) -> Tokens? {
        do {
            return try store.load()
        } catch {
            guard signIn == nil else { return nil }
            throw .unauthorized(error.message)
        }
    }

    private func save(_ tokens: Tokens) throws(UpstreamError) {
        do {
            try store.save(tokens)
        } catch {
            throw .unauthorized("the new token cannot be used until it is saved: \(error.message)")
        }
    }
}
