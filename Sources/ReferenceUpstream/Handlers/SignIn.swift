internal import EntitySchema
internal import JSONText

/// The sign-in that a schema's `auth` describes, from the server's side: one user, mailed codes, tokens that expire and
/// rotate.
///
/// A step's meaning follows from its shape: the first question is the user's name, a secret one the password, a
/// question of a later step the code that the step before mailed, and a kept value the user's id.
struct SignIn: Sendable {
    /// A code mailed to the user.
    struct Mail: Sendable {
        var time: Timestamp
        var to: String
        var code: String

        var json: JSONText {
            .object(["time": .string(time.description), "to": .string(to), "code": .string(code)])
        }
    }

    private struct Code: Sendable {
        var text: String
        var expiresAt: Timestamp
        var triesLeft = 5
    }

    private static let codeLifetime = Duration.seconds(600)

    let plan: UpstreamPlan
    let user: UpstreamSettings.User
    typealias Part = (place: Place, value: JSONText)
    private var random: SplitMix64
    private(set) var mails: [Mail] = []
    /// How many steps of each way are done.
    private var done: [String: Int] = [:]
    private var codes: [String: Code] = [:]
    private var access: [String: Timestamp] = [:]
    private var refresh: [String: Timestamp] = [:]

    init(plan: UpstreamPlan, user: UpstreamSettings.User, seed: UInt64) {
        self.plan = plan
        self.user = user
        random = SplitMix64(seed: seed ^ 0x7369_676E)
    }

    // MARK: Steps

    /// Runs one step of a sign-in; returns tokens after the last.
    mutating func take(
        _ number: Int, of way: LoginWay, _ body: JSONText, at now: Timestamp
    ) throws(Refusal) -> [(place: Place, value: JSONText)] {
        let step = way.steps[number]
        for name in step.questions.map(\.name) + step.send where (body[name]?.plain ?? "").isEmpty {
            throw .invalid("\(name) is missing")
        }
        guard number == 0 || done[way.name] ?? 0 >= number else { throw .notSignedIn("start the sign-in again") }
        if number == 0 {
            try identify(step, body)
        } else {
            try recognise(step, way, body)
            for question in step.questions { try redeem(body[question.name]?.plain ?? "", of: way, at: now) }
        }
        guard number + 1 < way.steps.count else {
            done[way.name] = nil
            return issue(at: now)
        }
        done[way.name] = number + 1
        if !way.steps[number + 1].questions.isEmpty { mail(for: way, at: now) }
        return step.keep.map { ($0.place, .string(user.id)) }
    }

    private func identify(_ step: LoginStep, _ body: JSONText) throws(Refusal) {
        for question in step.questions {
            let expected = question.secret ? user.password : user.name
            guard body[question.name]?.plain == expected else {
                throw .notSignedIn("the name or the password is wrong")
            }
        }
    }

    /// Whether the values that a later step sends again match this user's earlier ones.
    private func recognise(_ step: LoginStep, _ way: LoginWay, _ body: JSONText) throws(Refusal) {
        let asked = way.questions
        for name in step.send {
            let question = asked.first { $0.name == name }
            let expected = question.map { $0.secret ? user.password : user.name } ?? user.id
            guard body[name]?.plain == expected else { throw .notSignedIn("\(name) is not the one of this sign-in") }
        }
    }

    private mutating func mail(for way: LoginWay, at now: Timestamp) {
        let text = String(String(1_000_000 + random.below(1_000_000)).dropFirst())
        codes[way.name] = Code(text: text, expiresAt: now + Self.codeLifetime)
        mails.append(Mail(time: now, to: user.name, code: text))
    }

    /// A code is valid once, for a limited time and a few tries.
    private mutating func redeem(_ text: String, of way: LoginWay, at now: Timestamp) throws(Refusal) {
        guard var code = codes[way.name], code.triesLeft > 0, now < code.expiresAt else {
            throw .notSignedIn("there is no code that could be used; ask for a new one")
        }
        guard code.text == text else {
            code.triesLeft -= 1
            codes[way.name] = code
            throw .notSignedIn("the code is wrong")
        }
        codes[way.name] = nil
    }

    // MARK: Tokens

    /// Exchanges a refresh token; if they rotate, the old one becomes invalid. `access` is the token that the request
    /// carries.
    mutating func renew(_ body: JSONText, _ access: String?, at now: Timestamp) throws(Refusal) -> [Part] {
        guard let plan = plan.refresh else { throw .notFound("such path") }
        guard let name = plan.send else {
            guard let access, accepts(access, at: now) else { throw .unauthorized(self.plan.tokenPlace) }
            return issue(at: now)
        }
        guard let token = body[name]?.string else { throw .invalid("the refresh token is missing") }
        guard let expiry = refresh[token], now < expiry else {
            throw .notSignedIn("the refresh token is spent, expired or unknown; sign in again")
        }
        if plan.refreshToken != nil { refresh[token] = nil }
        return issue(at: now)
    }

    private mutating func issue(at now: Timestamp) -> [Part] {
        guard let plan = plan.refresh else { return [] }
        return issue(token: plan.token, refreshToken: plan.refreshToken, plan.expiry, at: now)
    }

    mutating func issue(
        token place: Place, refreshToken: Place?, _ expiry: TokenExpiry?, at now: Timestamp
    ) -> [Part] {
        let end = now + user.accessLifetime
        let token = expiry == .jwt ? jwt(random.hex(32), until: end) : "access-\(random.hex(32))"
        access[token] = end
        var parts: [Part] = [(place, .string(token))]
        if let place = refreshToken {
            let next = "refresh-\(random.hex(32))"
            refresh[next] = now + user.refreshLifetime
            parts.append((place, .string(next)))
        }
        if let place = expiry?.place {
            parts.append((place, .integer(Int(user.accessLifetime.components.seconds))))
        }
        return parts
    }

    func accepts(_ token: String, at now: Timestamp) -> Bool { access[token].map { now < $0 } ?? false }

    /// Expires every access token at once; the refresh tokens stay valid.
    mutating func expireAccess() { access = [:] }

    /// Revokes every token.
    mutating func logOut() {
        access = [:]
        refresh = [:]
    }
}
