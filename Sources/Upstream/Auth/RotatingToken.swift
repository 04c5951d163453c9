package import EntitySchema
internal import JSONText

/// A token that is refreshed when it expires, by the schema's `auth.refresh`.
///
/// Requests that find it expired at the same time share one exchange. The new tokens are on disk before they are used,
/// because an upstream that rotates refresh tokens no longer accepts the old one. A sign-in with `login` replaces the
/// file; each exchange checks for that first.
package actor RotatingToken: Credentials {
    private let refresh: UpstreamPlan.Refresh
    private let caller: HTTPCaller
    private let store: TokenStore
    private let now: @Sendable () -> Timestamp
    /// As they are on disk; nil before the first read.
    private var tokens: Tokens?
    /// From a refresh and not on disk yet; they must not be used before they are.
    private var unsaved: Tokens?
    private var running: Task<Result<Tokens, UpstreamError>, Never>?
    private var refusal: Refusal?
    /// How long before its expiry a token is refreshed.
    private var margin = RotatingToken.longestMargin

    private struct Refusal {
        var token: String
        var time: Timestamp
        var error: UpstreamError
    }

    private static let longestMargin = Duration.seconds(30)
    /// How long a refused refresh token is not sent again.
    private static let retryAfterRefusal = Duration.seconds(60)

    package init(
        plan: UpstreamPlan, refresh: UpstreamPlan.Refresh, baseURL: String? = nil, transport: any HTTPTransport,
        store: TokenStore, deadline: Duration = .seconds(15), clock: ServerClock? = nil,
        budget: RequestBudget? = nil, now: @escaping @Sendable () -> Timestamp
    ) {
        self.refresh = refresh
        caller = HTTPCaller(
            baseURL: baseURL ?? plan.baseURL, transport: transport, deadline: deadline, maximumBody: 1 << 20,
            answers: plan.answers, headers: plan.headers, tokenPlace: plan.tokenPlace, clock: clock,
            budget: budget, now: now)
        self.store = store
        self.now = now
    }

    /// Refreshes a token that is about to expire. One that cannot be refreshed now is used until it expires.
    package func current() async throws(UpstreamError) -> String? {
        if tokens == nil { tokens = try load() }
        guard let known = tokens else { return nil }
        guard known.refresh != nil, let end = known.expiresAt, end.since(now()) < margin else { return known.access }
        do throws(UpstreamError) {
            return try await renewed().access
        } catch {
            guard error != .cancelled, end > now() else { throw error }
            return known.access
        }
    }

    package func renew(refused: String?) async throws(UpstreamError) -> Bool {
        if let tokens, tokens.access != refused { return true }
        _ = try await renewed()
        return true
    }

    package var missing: String? {
        do {
            return try store.load() == nil ? Self.notSignedIn : nil
        } catch {
            return nil
        }
    }

    private static let notSignedIn = "not signed in; run repairminder-sync login"

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
            unsaved = nil
            return .success(next)
        } catch {
            return .failure(error)
        }
    }

    private func next() async throws(UpstreamError) -> Tokens {
        guard let saved = try load() else {
            throw .unauthorized(Self.notSignedIn)
        }
        if saved != tokens {
            unsaved = nil
            guard saved.expiresAt.map({ $0 <= now() }) ?? false else { return saved }
        }
        if let unsaved {
            try save(unsaved)
            return unsaved
        }
        guard let token = saved.refresh else {
            throw .unauthorized("the token has expired and there is no refresh token; run repairminder-sync login")
        }
        if let refusal, refusal.token == token, (.zero..<Self.retryAfterRefusal).contains(now().since(refusal.time)) {
            throw refusal.error
        }
        do throws(UpstreamError) {
            let fresh = try await ask(with: token)
            if let other = try load(), other != saved { return other }
            unsaved = fresh
            try save(fresh)
            return fresh
        } catch .unauthorized(let message) {
            if unsaved == nil, let other = try load(), other != saved { return other }
            if unsaved == nil { refusal = Refusal(token: token, time: now(), error: .unauthorized(message)) }
            throw .unauthorized(message)
        }
    }

    /// The tokens that the upstream returns for a refresh token.
    private func ask(with token: String) async throws(UpstreamError) -> Tokens {
        let path = refresh.path
        var request = refresh.request(with: token)
        if let access = tokens?.access { request.secrets.append(access) }
        let response = try await caller.send(request)
        if let failure = caller.failure(response, to: request) { throw classified(failure, response.status) }
        let time = now()
        guard let answer = try? caller.json(response, path),
            var fresh = Tokens(answer: answer, as: refresh, at: time)
        else {
            throw .unauthorized(
                "POST \(path) answered no token at \(refresh.token.description); correct upstream.auth.refresh in the "
                    + "schema, then run repairminder-sync login")
        }
        fresh.refresh = fresh.refresh ?? token
        // A token that lives no longer than the usual margin would be refreshed for each request.
        margin = fresh.expiresAt.map { min(Self.longestMargin, $0.since(time) / 2) } ?? Self.longestMargin
        return fresh
    }

    private func classified(_ failure: UpstreamError, _ status: Int) -> UpstreamError {
        switch failure {
        case .throttled, .unclear: failure
        case _ where [400, 401, 403].contains(status):
            .unauthorized("the sign-in has ended (\(failure.message)); run repairminder-sync login")
        default:
            .unauthorized(
                "\(failure.message) to the token refresh; correct upstream.auth.refresh in the schema")
        }
    }

    // MARK: The file

    private func load() throws(UpstreamError) -> Tokens? {
        do {
            return try store.load()
        } catch {
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
