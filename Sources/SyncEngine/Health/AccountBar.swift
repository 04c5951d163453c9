internal import EntitySchema

/// Tracks that the upstream lets no change through: the account is suspended or may not write, a gateway asks to sign
/// in, a maintenance page answers.
///
/// Such an answer says nothing about the change that got it, so nothing is counted. One change at a time tries again,
/// at growing intervals. When another change gets through, the bar is over. Only a change that is barred again after
/// others got through is itself the reason.
///
/// A change that is answered 401 is stopped in the same way. The token may have expired just then, so others must always
/// get through twice before the answer concerns the change; then it does until the change gets through.
struct AccountBar: Equatable {
    /// What follows for a change that was barred.
    enum Verdict: Sendable, Equatable {
        /// It waits and is not counted.
        case waits
        /// Others get through: the answer concerns this change.
        case concernsChange
    }

    /// What kind of answer did not let a change through.
    enum Cause: Sendable, Equatable {
        /// The account is refused, or something in between answers.
        case account
        /// The token is refused (401).
        case token
        /// A failure (5xx) that says nothing about the account, as during maintenance.
        case outage

        /// That of a status. 511 comes from a gateway that wants a sign-in.
        init(status: Int) {
            self = status == 401 ? .token : (500..<600).contains(status) && status != 511 ? .outage : .account
        }
    }

    private struct Barred: Equatable {
        /// When it was barred last, by `clock`.
        var at: Int
        /// How often others got through after it was barred, at most once for each time it was.
        var passes = 0
        /// Whether `passes` has counted them since it was barred last.
        var hasPassed = false
    }

    /// The answer to the last barred change; nil while changes get through.
    private(set) var reason: String?
    /// The kind of that answer.
    private(set) var cause = Cause.account
    /// By the queue's number.
    private var barred: [Int64: Barred] = [:]
    /// When changes under way were begun, by `clock`.
    private var begun: [Int64: Int] = [:]
    /// Orders begins and answers.
    private var clock = 0
    /// The change that finds out whether the bar is over.
    private var trial: Int64?
    private var trials = 0
    private var nextTrial: Timestamp?

    /// For people, with what they can do.
    var status: String? {
        reason.map { reason in
            switch cause {
            case .outage:
                "the upstream takes no changes right now, as during maintenance: \(reason); they wait, and are sent when "
                    + "it takes them again"
            case .token: "the upstream refuses the token for changes: \(reason); sign in again"
            case .account:
                "the upstream refuses this account's changes: \(reason); check the account's rights and "
                    + "upstream.base_url, or sign in again"
            }
        }
    }

    /// Whether the last barred change was answered that the account is refused, or by something in between.
    var refusesAccount: Bool { isSet && cause == .account }

    /// Whether the last barred change was answered that the token is refused.
    var refusesToken: Bool { isSet && cause == .token }

    var isSet: Bool { reason != nil }

    /// Changes that are being sent.
    var underWay: Set<Int64> { Set(begun.keys) }

    /// Changes that were barred and have not got through since.
    var changes: Set<Int64> { Set(barred.keys) }

    /// Until the next trial; zero when one may be made now.
    func wait(at now: Timestamp) -> Duration { nextTrial.map { max($0.since(now), .zero) } ?? .zero }

    /// False when the change must wait. Marks it as the trial while the bar is set.
    mutating func admits(_ change: Int64, at now: Timestamp) -> Bool {
        guard isSet else { return true }
        guard trial == nil, wait(at: now) == .zero else { return false }
        trial = change
        return true
    }

    mutating func begin(_ change: Int64) {
        clock += 1
        begun[change] = clock
    }

    /// The attempt ended, whatever came of it.
    mutating func end(_ change: Int64) {
        begun[change] = nil
        if trial == change { trial = nil }
    }

    /// The upstream accepted the change, or refused it for what it says. Returns whether that ended the bar.
    ///
    /// That says nothing if the same attempt was barred too: an edit is answered with 412, and then all reads with 404.
    mutating func pass(_ change: Int64) -> Bool {
        if let entry = barred[change], let start = begun[change], entry.at > start { return false }
        barred[change] = nil
        let start = begun[change] ?? clock
        for (other, entry) in barred where entry.at < start && !entry.hasPassed {
            barred[other]?.passes += 1
            barred[other]?.hasPassed = true
        }
        return lift()
    }

    /// `hasOthers`: changes that were not barred are ready. They go first, and must get through twice between this
    /// one's attempts, because a gateway can come and go between any two requests.
    mutating func bar(
        _ change: Int64, _ message: String, hasOthers: Bool, cause: Cause, at now: Timestamp,
        jitter: Double = 1
    ) -> Verdict {
        let refusesToken = cause == .token
        clock += 1
        var entry = barred[change] ?? Barred(at: clock)
        entry.at = clock
        entry.hasPassed = false
        barred[change] = entry
        guard entry.passes < (hasOthers || refusesToken ? 2 : 1) else {
            barred[change] = refusesToken ? entry : Barred(at: clock)
            return .concernsChange
        }
        // Attempts that were under way together are one trial.
        if !isSet || trial == change {
            nextTrial = now + delay * jitter
            trials += 1
        }
        reason = message
        self.cause = cause
        return .waits
    }

    /// The first trial comes at once: perhaps only one change is barred. Then 2 s, doubling to 60 s.
    private var delay: Duration { trials == 0 ? .zero : Duration.seconds(1).doubled(trials, atMost: .seconds(60)) }

    /// Someone asks for a trial now.
    mutating func hurry() {
        trials = min(trials, 1)
        nextTrial = nil
    }

    /// The queue is empty: nothing is barred any more.
    mutating func clear() {
        barred = [:]
        _ = lift()
    }

    private mutating func lift() -> Bool {
        defer {
            reason = nil
            cause = .account
            trials = 0
            nextTrial = nil
        }
        return isSet
    }
}
