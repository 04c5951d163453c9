internal import EntitySchema

/// Whether the upstream may be called right now, and why not.
///
/// It is down when it cannot be reached (offline), or when it answers with nothing but failures (an outage): then it is
/// left alone but for probes, and one trial before everything goes on. So an outage costs a few requests and not a
/// retry of every change that waits.
struct CircuitBreaker: Equatable {
    /// Nil while it can be reached.
    private(set) var offline: String?
    /// Nil while its answers are more than failures.
    private(set) var outage: String?
    private(set) var unauthorized: String?
    private var failures = 0
    /// What the failures in a row were about.
    private var failing: Set<String> = []
    private var probes = 0
    private var heldUntil: Timestamp?

    /// Requests in a row that must fail for an outage.
    private static let failuresOfAnOutage = 3
    /// Before the next ones come as far apart as at first.
    private static let hurriedProbes = 8

    var isDown: Bool { offline != nil || outage != nil }

    /// Not to be called until something changes; how long, nobody knows.
    var isBlocked: Bool { isDown || unauthorized != nil }

    /// Nil when it may be called.
    func reasonNotToCall(at now: Timestamp) -> String? {
        if let reason = offline ?? outage ?? unauthorized { return reason }
        return hold(at: now).map { _ in "the upstream asked to be left alone for a while" }
    }

    /// Until when the upstream asked to be left alone; nil when that is over.
    func hold(at now: Timestamp) -> Timestamp? { heldUntil.flatMap { $0 > now ? $0 : nil } }

    /// Between two probes: 2 s, doubling to 60 s; while offline just after `hurry()` from 8 ms.
    var probeDelay: Duration {
        probes < 0 ? .seconds(2) / (1 << -probes) : min(.seconds(2) * (1 << min(probes, 5)), .seconds(60))
    }

    mutating func lost(_ message: String) {
        if !isDown { probes = 0 }
        offline = message
    }

    /// Neither done nor refused: a time-out or a failure of the server's.
    ///
    /// Failures of one entity alone are no outage, or a broken one would hold up all others; `sources` is how many there
    /// are to tell by.
    mutating func failed(_ message: String, by source: String, of sources: Int) {
        failures += 1
        failing.insert(source)
        guard isDown || failures >= Self.failuresOfAnOutage && failing.count >= min(2, sources) else { return }
        probes = isDown ? max(probes, 0) : 0
        offline = nil
        outage = message
    }

    /// True when one entity has failed so often that another must be asked to know whether it is an outage.
    var isDoubtful: Bool { !isDown && failures >= Self.failuresOfAnOutage && failing.count == 1 }

    /// Any answer that shows it at work, be it a refusal.
    mutating func answered() {
        offline = nil
        outage = nil
        failures = 0
        failing = []
        probes = 0
    }

    mutating func probed() { probes += 1 }

    /// Something has changed, and takes a moment to settle where it cannot be reached. A failing one is tried no faster: each
    /// trial is an attempt of some change.
    mutating func hurry() { probes = offline == nil ? 0 : -Self.hurriedProbes }

    mutating func hold(until time: Timestamp) { heldUntil = max(time, heldUntil ?? time) }

    mutating func refuse(_ message: String) { unauthorized = message }

    mutating func retryAuthorization() { unauthorized = nil }
}
