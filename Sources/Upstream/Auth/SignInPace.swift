internal import EntitySchema

/// Decides when stored credentials may be sent again, so that wrong ones never lock an account.
///
/// Credentials that were refused are sent again after a quarter of an hour, then ever more rarely; other credentials at
/// once. That holds over a restart too, so that a daemon that crashes again and again does no harm. An answer that says
/// nothing about the credentials is no refusal: they are sent again soon. An upstream that gives tokens and refuses them
/// is asked for a few, then also rarely.
struct SignInPace {
    private let address: String?
    private let file: SignInRefusalFile?
    private var refusal: SignInRefusal?
    private var hasReadFile = false
    private var unclear = UnclearPace()
    private var lastToken: (text: String, time: Timestamp)?
    /// The last token that is known to have counted.
    private var counted: String?
    /// How many tokens in a row were refused right after they were given.
    private var useless = 0

    private static let waitAfterRefusal = Duration.seconds(15 * 60)
    private static let longestWait = Duration.seconds(4 * 3600)
    private static let freshness = Duration.seconds(60)
    private static let mostUseless = 3

    /// `address` is the upstream's. Without a file, a restart forgets a refusal.
    init(address: String?, file: SignInRefusalFile?) {
        self.address = address
        self.file = file
    }

    /// Throws why these credentials may not be sent now.
    mutating func check(_ request: WireRequest, at now: Timestamp) throws(UpstreamError) {
        if !hasReadFile {
            refusal = file?.load()
            hasReadFile = true
        }
        if let refusal, refusal.concerns(request, to: address) {
            let wait = Self.waitAfterRefusal.doubled(refusal.count - 1, atMost: Self.longestWait)
            if (.zero..<wait).contains(now.since(refusal.time)) {
                throw .unauthorized(
                    "\(refusal.message). The same credentials are sent again at \(refusal.time + wait), changed ones "
                        + "at once")
            }
        }
        try unclear.check(subject(of: request), at: now)
        guard useless >= Self.mostUseless, let lastToken else { return }
        let wait = Self.freshness.doubled(useless - Self.mostUseless, atMost: Self.longestWait)
        if (.zero..<wait).contains(now.since(lastToken.time)) {
            throw .unauthorized(
                "the upstream signs in and then refuses each new token; check the account's rights, and auth.send and "
                    + "auth.check in the schema. The next sign-in is at \(lastToken.time + wait)")
        }
    }

    mutating func noteRefusal(of request: WireRequest, _ error: UpstreamError, at now: Timestamp) {
        let count = refusal.map { $0.concerns(request, to: address) ? $0.count : 0 } ?? 0
        let fresh = SignInRefusal(
            of: request, to: address, salt: file?.salt() ?? "", time: now, count: count + 1, message: error.message)
        refusal = fresh
        file?.save(fresh)
    }

    /// The answer was neither a token nor a refusal. Returns the error to throw.
    mutating func noteUnclear(_ request: WireRequest, _ message: String, at now: Timestamp) -> UpstreamError {
        unclear.note(subject(of: request), message, at: now)
    }

    private func subject(of request: WireRequest) -> String {
        SignInRefusal.hash(of: request, to: address, salt: "")
    }

    mutating func noteSignIn(_ tokens: Tokens, at now: Timestamp) {
        refusal = nil
        unclear.clear()
        file?.remove()
        lastToken = (tokens.access, now)
    }

    /// The upstream took this token where it had refused another.
    mutating func noteSuccess(of token: String?) { counted = token }

    /// The upstream refused a token that should have counted. One that has counted before was no useless one: it lives for a
    /// short time, or another sign-in has ended it.
    mutating func noteRefusal(of tokens: Tokens, at now: Timestamp) {
        guard let lastToken, lastToken.text == tokens.access, !tokens.hasEnded(at: now),
            now.since(lastToken.time) < Self.freshness, tokens.access != counted
        else {
            useless = 0
            return
        }
        useless += 1
    }
}
