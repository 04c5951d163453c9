internal import CacheStore
internal import EntitySchema

/// What follows when the upstream asks to wait with a change.
extension Pusher {
    /// If everything waits, all else goes first after that, to show whether only this change is limited. If only the
    /// change waits, it does so at least as long as after a failed attempt: the upstream may have named no time.
    func outcome(
        ofThrottled change: OutboxChange, _ delay: Duration, _ message: String
    ) async -> PushOutcome {
        let time = monotonicNow()
        let next =
            switch await passage.limit(change.limited) {
            case .change(let times)?: time + max(delay, retry.delay(attempt: times, random: random()))
            case .everything(let end)?: max(time + delay, end + ThrottledChanges.turnOfOthers)
            case nil: time + delay
            }
        return .waiting(PushFailure(.throttled, message: message), at: next, counted: false)
    }
}

extension OutboxChange {
    /// The change as `ThrottledChanges` identifies it.
    var limited: ThrottledChanges.Change {
        ThrottledChanges.Change(idempotencyKey, operation, of: entity, content != nil)
    }
}
