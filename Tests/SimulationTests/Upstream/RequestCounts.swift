/// Counts the requests of one daemon process, for the checks.
struct RequestCounts: Sendable {
    /// The requests that a failing upstream received.
    struct Load: Sendable {
        var kind: SimulatedNetwork.Outage.Kind
        var number: Int
        var beganAt: Duration
        var lastAt: Duration
        /// Changes sent for the first time; and sent again.
        var first = 0
        var repeated = 0
        /// Requests that are neither changes nor probes.
        var reads = 0
        var probes = 0
    }

    /// When a pause was answered; nil while not paused.
    var pausedAt: Duration?
    /// Requests that began after that.
    var begunWhilePaused = 0
    /// Failed attempts that count towards the limit, by idempotency key.
    var failures: [String: Int] = [:]
    /// The load of the current outage, or of the last one.
    private(set) var load: Load?
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
        if load?.number != outage.number {
            load = Load(kind: outage.kind, number: outage.number, beganAt: time, lastAt: time)
        }
        backSince = nil
        load?.lastAt = time
        switch purpose {
        case .probe: load?.probes += 1
        case .read: load?.reads += 1
        case .change: if isFirst { load?.first += 1 } else { load?.repeated += 1 }
        }
    }

    /// Garbles the answer to a change once at most: after two unreadable answers an engine cannot know the record's key
    /// before the next full pull.
    mutating func garbles(_ key: String) -> Bool { garbled.insert(key).inserted }

    mutating func noteAnsweredProbe(at time: Duration) { backSince = backSince ?? time }
}
