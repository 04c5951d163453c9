internal import EntitySchema

/// Decides whether the upstream may be called right now, and says why not.
///
/// The upstream is down when it cannot be reached (offline) or answers nothing but failures (an outage). Then it gets
/// only probes, and one trial request before everything resumes. An outage costs a few requests, not a retry of every
/// waiting change.
struct CircuitBreaker: Equatable {
    /// Nil while it can be reached.
    private(set) var offline: String?
    /// Nil while its answers are more than failures.
    private(set) var outage: String?
    private(set) var unauthorized: String?
    /// The token was refused to changes only, and to no read.
    private(set) var isRefusedByChanges = false
    private var failures = 0
    /// The entities of the consecutive failures.
    private(set) var failing: Set<String> = []
    /// Whether a request for an entity was answered since the last outage. The probe may be answered by a part that
    /// works.
    private var isServing = true
    /// Consecutive outages without such an answer between them.
    private var relapses = 0
    private var probes = 0
    private var heldUntil: Timestamp?

    /// Consecutive failures that make an outage.
    private static let failuresOfAnOutage = 3
    /// Quick probes after a network change, before the waits are the usual ones.
    private static let hurriedProbes = 8

    var isDown: Bool { offline != nil || outage != nil }

    /// True when the upstream may not be called for an unknown time.
    var isBlocked: Bool { isDown || unauthorized != nil }

    /// The outage for people, with what becomes of changes; nil without one.
    var outageStatus: String? {
        outage.map {
            "the upstream fails at every request, as during maintenance: \($0); changes wait, and are sent when it works again"
        }
    }

    /// Nil when the upstream may be called.
    func reasonNotToCall(at now: Timestamp) -> String? {
        if let reason = offline ?? outage ?? unauthorized { return reason }
        return hold(at: now).map { _ in "the upstream asked to wait for a while; syncing then goes on by itself" }
    }

    /// Until when the upstream asked to be left alone; nil when that is over.
    func hold(at now: Timestamp) -> Timestamp? { heldUntil.flatMap { $0 > now ? $0 : nil } }

    /// Between two probes: 2 s, doubling to 60 s; from 8 ms after `hurry()` while offline.
    var probeDelay: Duration {
        let first = Duration.seconds(2)
        return probes < 0 ? first / (1 << -probes) : first.doubled(probes, atMost: Self.longestProbeDelay)
    }

    private static let longestProbeDelay = Duration.seconds(60)

    /// Whether probes have failed so often that they are as far apart as they get.
    var isProbedRarely: Bool { isDown && probeDelay == Self.longestProbeDelay }

    /// The wait between an outage and the next sync, if syncs have only led to outages: 2 s, doubling to 60 s.
    var relapseWait: Duration {
        relapses == 0 ? .zero : Duration.seconds(2).doubled(relapses - 1, atMost: .seconds(60))
    }

    mutating func lost(_ message: String) {
        if !isDown { probes = 0 }
        offline = message
    }

    /// A request was neither done nor refused: a timeout or a server failure.
    ///
    /// Failures of one entity alone are no outage, or a broken entity would hold up all others. `sources` is the number
    /// of entities.
    mutating func failed(_ message: String, by source: String, of sources: Int) {
        failures += 1
        failing.insert(source)
        guard isDown || failures >= Self.failuresOfAnOutage && failing.count >= min(2, sources) else { return }
        if outage == nil {
            relapses = isServing ? 0 : relapses + 1
            isServing = false
        }
        probes = isDown ? max(probes, 0) : 0
        offline = nil
        outage = message
    }

    /// True when one entity has failed so often that only a request for another shows whether this is an outage.
    var isDoubtful: Bool { !isDown && failures >= Self.failuresOfAnOutage && failing.count == 1 }

    /// Any answer that shows that the upstream works, including a refusal. `servesEntity`: the request was for an
    /// entity.
    mutating func answered(servesEntity: Bool = true) {
        if servesEntity { isServing = true }
        offline = nil
        outage = nil
        failures = 0
        failing = []
        probes = 0
    }

    mutating func probed() { probes += 1 }

    /// The network has changed. Makes the next probes quick while offline, since a change takes a moment to settle.
    /// Trials during an outage come no faster: each is an attempt of some change.
    mutating func hurry() { probes = offline == nil ? 0 : -Self.hurriedProbes }

    mutating func hold(until time: Timestamp) { heldUntil = max(time, heldUntil ?? time) }

    /// The token was refused to a change, or to any other request.
    mutating func refuse(_ message: String, byChange: Bool) {
        isRefusedByChanges = byChange && (isRefusedByChanges || unauthorized == nil)
        unauthorized = message
    }

    mutating func retryAuthorization() { unauthorized = nil }
}
