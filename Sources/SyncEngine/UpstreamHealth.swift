internal import EntitySchema

/// Whether the upstream may be called right now, and why not.
struct UpstreamHealth: Equatable {
    /// Nil while it can be reached.
    private(set) var offline: String?
    private(set) var probes = 0
    private var heldUntil: Timestamp?
    private(set) var unauthorized: String?

    func mayCall(at now: Timestamp) -> Bool {
        offline == nil && unauthorized == nil && hold(at: now) == nil
    }

    /// Until when the upstream asked to be left alone; nil when that is over.
    func hold(at now: Timestamp) -> Timestamp? { heldUntil.flatMap { $0 > now ? $0 : nil } }

    /// Between two probes: 2 s, doubling to 60 s.
    var probeDelay: Duration { min(.seconds(2) * (1 << min(probes, 5)), .seconds(60)) }

    mutating func lost(_ message: String) {
        if offline == nil { probes = 0 }
        offline = message
    }

    mutating func probed() { probes += 1 }

    /// The next failure is the first again: the network has changed.
    mutating func beginProbingAnew() { probes = 0 }

    mutating func reached() {
        offline = nil
        probes = 0
    }

    mutating func hold(until time: Timestamp) { heldUntil = max(time, heldUntil ?? time) }

    mutating func refuse(_ message: String) { unauthorized = message }

    mutating func retryAuthorization() { unauthorized = nil }
}
