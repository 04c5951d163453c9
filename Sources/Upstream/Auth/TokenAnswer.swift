internal import EntitySchema
internal import JSONText

/// Where an answer has tokens, and how it says when they expire.
struct TokenAnswer {
    let token: Place
    let refreshToken: Place?
    let expiry: TokenExpiry?
    /// The upstream's, by which it states times.
    private let clock: ServerClock?

    init(_ call: SignInCall, _ clock: ServerClock?) {
        (token, refreshToken, expiry) = (call.token, call.refreshToken, call.expiry)
        self.clock = clock
    }

    init(_ refresh: UpstreamPlan.Refresh, _ clock: ServerClock?) {
        (token, refreshToken, expiry) = (refresh.token, refresh.refreshToken, refresh.expiry)
        self.clock = clock
    }

    /// How far it is ahead.
    private var offset: Duration { clock?.offset ?? .zero }

    /// Nil when the answer has no token that a request could carry. A refresh token that is too long counts as none too.
    func tokens(in answer: JSONText, at now: Timestamp) -> Tokens? {
        guard let access = token.value(in: answer)?.string, Tokens.isSendable(access), Tokens.isStorable(access) else {
            return nil
        }
        // One that has ended already was measured by another clock: believed, it would be renewed for each request.
        let end = endTime(of: access, answer, now).flatMap { $0 > now ? $0 : nil }
        let refresh = refreshToken?.value(in: answer)?.string.flatMap { Tokens.isStorable($0) ? $0 : nil }
        var tokens = Tokens(access: access, refresh: refresh, expiresAt: end)
        // A token that lives no longer than the usual margin would be renewed for each request.
        if let end, end.since(now) < Tokens.margin * 2 {
            tokens.renewsAt = now + end.since(now) / 2
        }
        return tokens
    }

    /// By this machine's clock.
    private func endTime(of access: String, _ answer: JSONText, _ now: Timestamp) -> Timestamp? {
        switch expiry {
        case nil: return nil
        case .jwt: return JWTExpiry.time(of: access).map { $0 - offset }
        case .place(let place):
            guard let value = place.value(in: answer) else { return nil }
            if let seconds = value.wholeNumber { return now + .seconds(min(seconds, 1 << 40)) }
            return value.string.flatMap { Timestamp(iso8601: $0) }.map { $0 - offset }
        }
    }
}
