internal import EntitySchema

/// Limits how many retries a failing upstream has to bear: one for every ten changes sent for the first time, and a
/// small reserve to begin with.
///
/// When the budget is used up, single trial retries find out whether changes are accepted again, 2 s to 60 s apart on
/// average. The first change that is answered refills the reserve.
struct RetryBudget: Equatable {
    /// In tenths of a retry.
    private var tenths = Self.reserve
    private var trials = 0
    private var jitter = 1.0
    private var lastTrial: Timestamp?
    private var trialBefore: Timestamp?
    /// Changes under way that were paid for.
    private var paidFor: Set<Int64> = []

    private static let reserve = 30
    private static let most = 100
    private static let price = 10

    /// Which changes may be sent now.
    enum Allowance: Sendable {
        case all
        /// Only changes that were never tried.
        case untried
        /// One change that was tried before, and all that were not.
        case trial
    }

    var isExhausted: Bool { tenths < Self.price }

    func allowance(at now: Timestamp) -> Allowance {
        guard isExhausted else { return .all }
        return wait(at: now) == .zero ? .trial : .untried
    }

    /// Until a retry may be made; zero when one may be made now.
    func wait(at now: Timestamp) -> Duration {
        guard isExhausted, let lastTrial else { return .zero }
        return max((lastTrial + trialDelay).since(now), .zero)
    }

    private var trialDelay: Duration { Duration.seconds(1).doubled(trials, atMost: .seconds(60)) * jitter }

    /// A change is sent for the first time.
    mutating func earn() { tenths = min(tenths + 1, Self.most) }

    /// A change is sent again. `jitter` multiplies the wait for the next trial.
    mutating func spend(on change: Int64, at now: Timestamp, jitter: Double = 1) {
        paidFor.insert(change)
        guard isExhausted else { return tenths -= Self.price }
        trials += 1
        self.jitter = jitter
        trialBefore = lastTrial
        lastTrial = now
    }

    /// The change was not sent after all.
    mutating func takeBack(_ change: Int64) {
        guard paidFor.remove(change) != nil else { return }
        guard trials > 0 else { return tenths = min(tenths + Self.price, Self.most) }
        trials -= 1
        lastTrial = trialBefore
    }

    /// The attempt of the change is over: it was sent.
    mutating func end(_ change: Int64) { paidFor.remove(change) }

    /// Changes are accepted, or refused for good: in both cases the upstream works.
    mutating func fill() {
        tenths = max(tenths, Self.reserve)
        trials = 0
        lastTrial = nil
    }
}
