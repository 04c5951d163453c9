internal import CacheStore
internal import EntitySchema
internal import Upstream

/// What follows when the upstream does not let a change through.
extension Pusher {
    /// The change waits without being counted, unless others get through. Then a refusal of the upstream (402, 403) is
    /// final, and an answer that only stands in its way, or in that of its look-up, counts as a failed attempt.
    func outcome(
        ofBarred change: OutboxChange, _ status: Int, _ message: String, isLookUp: Bool = false
    ) async throws -> PushOutcome {
        let failure = PushFailure(.barred, status: status, message: message)
        guard try await verdict(on: change, message, AccountBar.Cause(status: status)) == .concernsChange else {
            let wait = await passage.wait()
            return .waiting(failure, at: monotonicNow() + wait, counted: false)
        }
        guard !isLookUp, status == 402 || status == 403 else { return again(change, failure) }
        return try await outcome(
            ofRefused: change, failure.classified(as: .refused).adding("other changes are accepted"))
    }

    /// The change was answered 401. A token that has expired is refused for every change, so nothing is counted until
    /// others get through.
    func outcome(ofUnauthorized change: OutboxChange, _ message: String) async throws -> PushOutcome {
        let failure = PushFailure(.unauthorized, status: 401, message: message)
        guard try await verdict(on: change, message, .token) == .concernsChange else {
            return .waiting(failure, at: monotonicNow(), counted: false)
        }
        return again(change, failure.adding("other changes are accepted"))
    }

    private func verdict(
        on change: OutboxChange, _ message: String, _ cause: AccountBar.Cause
    ) async throws -> AccountBar.Verdict {
        let barred = await passage.barred().union([change.id])
        let hasOthers = try !store.readyChanges(limit: 1, at: monotonicNow(), in: lane, notOf: barred).isEmpty
        return await passage.verdict(change.id, message, hasOthers, cause)
    }
}
