internal import EntitySchema

/// How many repetitions an upstream that fails is burdened with: one for every ten changes that are sent for the first
/// time, and a few to begin with.
///
/// When they are used up, one repetition at a time finds out whether changes are taken again, 2 s to 60 s apart; the
/// first change that is answered gives the few back.
struct RetryBudget: Equatable {
    /// In tenths of a repetition.
    private var tenths = Self.reserve
    private var trials = 0
    private var lastTrial: Timestamp?

    private static let reserve = 30
    private static let most = 100
    private static let price = 10

    var isExhausted: Bool { tenths < Self.price }

    /// Until a repetition may be made; zero when one may now.
    func wait(at now: Timestamp) -> Duration {
        guard isExhausted, let lastTrial else { return .zero }
        return max((lastTrial + trialDelay).since(now), .zero)
    }

    private var trialDelay: Duration { min(.seconds(1) * (1 << min(trials, 6)), .seconds(60)) }

    /// A change is sent for the first time.
    mutating func earn() { tenths = min(tenths + 1, Self.most) }

    /// A change is sent again.
    mutating func spend(at now: Timestamp) {
        guard isExhausted else { return tenths -= Self.price }
        trials += 1
        lastTrial = now
    }

    /// Changes are taken, or refused for good: either way the upstream is at work.
    mutating func fill() {
        tenths = max(tenths, Self.reserve)
        trials = 0
        lastTrial = nil
    }
}
