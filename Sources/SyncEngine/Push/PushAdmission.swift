internal import CacheStore
internal import EntitySchema

/// What a pusher may send; asked again before every request.
struct PushAdmission: Sendable {
    /// Requests that may be in flight; none while the upstream is down or syncing is paused.
    let slots: @Sendable () async -> Int
    let allowance: @Sendable () async -> RetryBudget.Allowance
    /// The newest change that may be begun.
    let newest: @Sendable () async -> Int64
    /// Asked last before a change is begun, and counts it as begun; false when the change must wait.
    let mayBegin: @Sendable (OutboxChange) async -> Bool
    /// While the upstream lets no change through: the changes that it stopped. Others are tried first. Nil otherwise.
    let barred: @Sendable () async -> Set<Int64>?
    /// Whether the change must wait with all others of its route or entity.
    var isHeld: @Sendable (OutboxChange) async -> Bool = { _ in false }
    /// Called when an attempt ended and its outcome was not stored.
    let breaksOff: @Sendable (OutboxChange) async -> Void

    /// For changes of fields, but not of the `held` entities. None is begun after `end`.
    static func fields(
        _ monitor: HealthMonitor, _ unwritten: UnwrittenOutcomes, besides held: Set<String>, until end: Timestamp,
        newest: @escaping @Sendable () async -> Int64
    ) -> PushAdmission {
        let now = monitor.environment.monotonicNow
        return PushAdmission(
            slots: { now() < end ? await monitor.slots : 0 }, allowance: { await monitor.allowance }, newest: newest,
            mayBegin: { await monitor.mayBegin($0.id, isRetry: $0.wasAttempted) },
            barred: { await monitor.barredChanges },
            isHeld: { change in
                if held.contains(change.entity) { return true }
                return await monitor.isRouteHeld(of: change.limited)
            }, breaksOff: { await unwritten.add($0) })
    }

    /// For contents: one at a time. Once the budget is exhausted, their retries are trials like any other.
    static func contents(_ monitor: HealthMonitor, _ unwritten: UnwrittenOutcomes) -> PushAdmission {
        PushAdmission(
            slots: { await monitor.canPush ? 1 : 0 },
            allowance: { (await monitor.retryWait ?? .zero) == .zero ? .all : .untried },
            newest: { .max }, mayBegin: { await monitor.mayBeginContent($0.id, isRetry: $0.wasAttempted) },
            barred: { await monitor.barredChanges }, isHeld: { await monitor.isRouteHeld(of: $0.limited) },
            breaksOff: { await unwritten.add($0) })
    }
}
