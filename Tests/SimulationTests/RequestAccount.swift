/// What the requests of one life of a daemon came to, for the checks.
struct RequestAccount: Sendable {
    /// What an upstream that fails was burdened with.
    struct Burden: Sendable {
        var kind: SimulatedNetwork.Outage.Kind
        var number: Int
        var beganAt: Duration
        var lastAt: Duration
        /// Changes that were sent for the first time; and again.
        var first = 0
        var repeated = 0
        /// Neither changes nor probes.
        var reads = 0
        var probes = 0
    }

    /// The moment when a pause was answered; nil while there is none.
    var pausedAt: Duration?
    /// Requests that were begun after that moment.
    var begunWhilePaused = 0
    /// Failed answers to pushes that count towards giving up, by idempotency key.
    var failures: [String: Int] = [:]
    /// The outage under way, or the last one.
    private(set) var burden: Burden?
    private(set) var backSince: Duration?
    private var sent: Set<String> = []
    private var garbled: Set<String> = []

    mutating func begin(
        _ purpose: SimulatedUpstream.Purpose, at time: Duration, in outage: SimulatedNetwork.Outage?
    ) {
        if let pausedAt, pausedAt < time { begunWhilePaused += 1 }
        var isFirst = false
        if case .change(let key) = purpose { isFirst = sent.insert(key).inserted }
        guard let outage else { return }
        if burden?.number != outage.number {
            burden = Burden(kind: outage.kind, number: outage.number, beganAt: time, lastAt: time)
        }
        backSince = nil
        burden?.lastAt = time
        switch purpose {
        case .probe: burden?.probes += 1
        case .read: burden?.reads += 1
        case .change: if isFirst { burden?.first += 1 } else { burden?.repeated += 1 }
        }
    }

    /// The answer to a change is unreadable once at most: an engine that asks twice in vain cannot know the record's key
    /// before the next full pull.
    mutating func garbles(_ key: String) -> Bool { garbled.insert(key).inserted }

    mutating func noteAnsweredProbe(at time: Duration) { backSince = backSince ?? time }
}
