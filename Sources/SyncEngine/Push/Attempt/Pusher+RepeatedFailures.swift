internal import CacheStore
internal import EntitySchema
internal import Upstream

/// When the upstream says that it repeats a failure of its own for an idempotency key. Stripe does so for a day.
///
/// Whether the first attempt was applied is not known, so the change goes on as if the upstream had no keys: an edit or a
/// deletion after its record was read, a creation once a look-up says that there is no record. Without a look-up a person
/// decides.
extension Pusher {
    func underAnotherKey(_ change: OutboxChange, _ status: Int, _ message: String) -> PushOutcome {
        again(
            change,
            PushFailure(
                .repeated, status: status,
                message:
                    "\(message); it repeats this answer for the same idempotency key, so the next attempt has another"
            ))
    }
}
