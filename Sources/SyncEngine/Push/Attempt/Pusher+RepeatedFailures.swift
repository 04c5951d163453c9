internal import CacheStore
internal import EntitySchema
internal import Upstream

/// When the upstream repeats a failure of its own for an idempotency key, as Stripe does for a day, or refuses a second request
/// with the key, as Parse Server does.
///
/// Whether the first attempt was applied is not known, so the change goes on as if the upstream had no keys: an edit or a
/// deletion after its record was read, a creation once a look-up says that there is no record. Without a look-up a person
/// decides. Where the first attempt was refused, as an account is with 403, nothing has to be read.
extension Pusher {
    func underAnotherKey(_ change: OutboxChange, _ status: Int, _ message: String) -> PushOutcome {
        let failure = PushFailure(
            .repeated, status: status,
            message:
                "\(message); the upstream does nothing more under this idempotency key, so the next attempt has another"
        )
        // The refusal that is repeated may concern the account, which counts nothing however long it lasts.
        guard status < 500, change.errorClass != .repeated else { return again(change, failure) }
        let delay = retry.delay(attempt: max(change.attemptCount, 1), random: random())
        return .waiting(failure, at: monotonicNow() + delay, counted: false)
    }
}
