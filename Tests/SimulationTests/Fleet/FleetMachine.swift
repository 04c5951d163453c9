import EntitySchema

@testable import SyncEngine

/// One machine of a fleet: what its database remembers, and the state of the process that runs.
struct FleetMachine {
    let schedule: SyncSchedule
    // What the database remembers.
    var lastSyncedAt: Timestamp?
    var lastFullAt: Timestamp?
    var queued = 0
    // What a restart forgets.
    var breaker = CircuitBreaker()
    var downSince: Timestamp?
    var failures = 0
    var nextSync: Timestamp
    var isOn = true
    /// Changes when the pull loop is woken early: it then wakes at another time.
    var plan = 0

    init(schedule: SyncSchedule, installedAt time: Timestamp) {
        self.schedule = schedule
        nextSync = time
    }

    mutating func start(at now: Timestamp) {
        breaker = CircuitBreaker()
        downSince = nil
        failures = 0
        isOn = true
        nextSync = now + schedule.firstSync(lastSyncedAt: lastSyncedAt, isSameSchema: true, at: now)
    }

    /// As `HealthMonitor.pullWait`.
    func pullWait(at now: Timestamp) -> Duration {
        if breaker.isDown { return schedule.probeWait(usual: breaker.probeDelay) }
        if let end = breaker.hold(at: now) { return end.since(now) }
        return max(nextSync.since(now), .zero)
    }

    /// A request had no answer, or a failure.
    mutating func fails(_ fault: FleetPlan.Fault, end: Timestamp, at now: Timestamp) {
        let wasDown = breaker.isDown
        switch fault {
        case .unreachable: breaker.lost("refused")
        case .failing: for entity in ["orders", "parts", "clients"] { breaker.failed("503", by: entity, of: 8) }
        case .throttling:
            breaker.answered()
            breaker.hold(until: now + schedule.holdWait(asked: end.since(now)))
        }
        if breaker.isDown, !wasDown { downSince = now }
    }

    /// A probe was answered: as `RecoveryProbe`.
    mutating func recovers(at now: Timestamp) {
        let outage = downSince.map { now.since($0) } ?? .zero
        breaker.answered()
        nextSync = now + schedule.catchUpWait(after: outage)
    }
}
