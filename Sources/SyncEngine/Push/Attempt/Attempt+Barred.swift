internal import CacheStore
internal import EntitySchema

/// What follows when the upstream does not let a change through, or asks to wait with it.
extension Attempt {
    /// The change waits without being counted, unless others get through. Then a refusal of the upstream (402, 403) is
    /// final, and an answer that only stands in its way, or in that of its look-up, counts as a failed attempt.
    func outcome(ofBar status: Int, _ message: String, isLookUp: Bool = false) async throws -> PushOutcome {
        let failure = PushFailure(.barred, status: status, message: message)
        guard try await barVerdict(message, AccountBar.Cause(status: status)) == .concernsChange else {
            let wait = await passage.wait()
            return .waiting(failure, at: monotonicNow() + wait, counted: false)
        }
        guard !isLookUp, status == 402 || status == 403 else { return again(failure) }
        return try await outcome(ofRefusal: failure.classified(as: .refused).adding("other changes are accepted"))
    }

    /// The change was answered 401. A token that has expired is refused for every change, so nothing is counted until
    /// others get through.
    func outcome(ofUnauthorized message: String) async throws -> PushOutcome {
        let failure = PushFailure(.unauthorized, status: 401, message: message)
        guard try await barVerdict(message, .token) == .concernsChange else {
            return .waiting(failure, at: monotonicNow(), counted: false)
        }
        return again(failure.adding("other changes are accepted"))
    }

    private func barVerdict(_ message: String, _ cause: AccountBar.Cause) async throws -> AccountBar.Verdict {
        let barred = await passage.barred().union([change.id])
        let hasOthers = try !store.readyChanges(limit: 1, at: monotonicNow(), in: pusher.lane, notOf: barred).isEmpty
        return await passage.verdict(change.id, message, hasOthers, cause)
    }

    /// The upstream asks to wait with the change. If everything waits, all else goes first after that, to show whether only this
    /// change is limited. If only the change waits, it does so at least as long as after a failed attempt: the upstream may have
    /// named no time.
    func outcome(ofThrottle delay: Duration, _ message: String) async -> PushOutcome {
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
