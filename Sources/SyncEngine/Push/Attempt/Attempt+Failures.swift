internal import CacheStore
internal import EntitySchema
internal import Upstream

/// What follows from a failed attempt: for the change, and for how it may be sent again.
extension Attempt {
    /// How an attempt ends that failed so.
    func ending(after error: UpstreamError) async throws -> Ending {
        switch error {
        case .cancelled: throw error
        case .changed:
            let ending = try await meet(PushFailure(.conflict, error))
            // Not before: it does not get through if the record is then barred.
            await passage.passes(change.id)
            return ending
        case .gone where change.operation == .create:
            return try await confirmRefusal(PushFailure(.gone, error))
        case .gone: return try await confirmGone(PushFailure(.gone, error))
        case .barred(let status, _, _) where (300..<400).contains(status):
            return try await confirmRedirect(error)
        case .unauthorized(let message):
            return Ending(try await outcome(ofUnauthorized: message), after: error)
        case .unclear(let status?, _) where (200..<300).contains(status):
            return Ending(try await outcome(ofUnrecognised: PushFailure(.malformed, error)))
        default: return Ending(try await outcome(of: error), after: error)
        }
    }

    /// The outcome where nothing more has to be read.
    func outcome(of error: UpstreamError) async throws -> PushOutcome {
        switch error {
        case .offline, .held, .cancelled: return .notSent
        case .barred(let status, let message, _): return try await outcome(ofBar: status, message)
        case .throttled(let delay, let message): return await outcome(ofThrottle: delay, message)
        case .refused(nil, _), .another: return .failed(PushFailure(.unsendable, error))
        case .refused:
            let outcome = try await outcome(ofRefusal: PushFailure(.refused, error))
            await passage.passes(change.id)
            return outcome
        case .unclear: return again(PushFailure(error.status == nil ? .timeout : .server, error))
        // Not "refused" after a lost answer: an earlier attempt may have arrived, or be what holds the lock.
        case .locked: return again(PushFailure(change.isTried ? .server : .refused, error))
        case .malformed: return again(PushFailure(.malformed, error))
        case .changed: return again(PushFailure(.conflict, error))
        case .unauthorized: return .waiting(PushFailure(.unauthorized, error), at: monotonicNow(), counted: false)
        case .gone: return .failed(PushFailure(.gone, error))
        }
    }

    /// The outcome where the upstream repeats a failure of its own for an idempotency key, as Stripe does for a day, or refuses
    /// a second request with the key, as Parse Server does.
    ///
    /// Whether the first attempt was applied is not known, so the change goes on as if the upstream had no keys: an edit or a
    /// deletion after its record was read, a creation once a look-up says that there is no record. Without a look-up a person
    /// decides. Where the first attempt was refused, as an account is with 403, nothing has to be read.
    func underAnotherKey(_ status: Int, _ message: String) -> PushOutcome {
        let failure = PushFailure(
            .repeated, status: status,
            message:
                "\(message); the upstream does nothing more under this idempotency key, so the next attempt has another"
        )
        // The refusal that is repeated may concern the account, which counts nothing however long it lasts.
        guard status < 500, change.errorClass != .repeated else { return again(failure) }
        let delay = retry.delay(attempt: max(change.attemptCount, 1), random: random())
        return .waiting(failure, at: monotonicNow() + delay, counted: false)
    }

    func again(_ failure: PushFailure, atOnce: Bool = false) -> PushOutcome {
        let attempt = change.attemptCount + 1
        guard !retry.isLast(attempt: attempt) else { return .failed(failure) }
        let delay = atOnce && attempt == 1 ? .zero : retry.delay(attempt: attempt, random: random())
        return .waiting(failure, at: monotonicNow() + delay, counted: true)
    }

    /// The upstream may be behind: the change waits, and is not counted. `reason` says so after the failure.
    func later(_ failure: PushFailure, _ reason: String) -> PushOutcome {
        .waiting(failure.adding(reason), at: monotonicNow() + Self.lookUpWait, counted: false)
    }

    /// Whether the error says that nothing of the attempt was applied. A page in place of an answer may come from a gateway, so
    /// it does not say so of a creation that can be looked up: one that was applied each time would be sent without end.
    func isRefusal(_ error: UpstreamError) -> Bool {
        guard error.isRefusal else { return false }
        guard case .barred(_, _, isPage: true) = error, change.operation == .create else { return true }
        return !hasLookUp
    }

    /// Whether the upstream may have a creation under its key although a page says that it was refused. Then it is never sent
    /// under another key, not even when a person retries it.
    func mayBeKnown(after error: UpstreamError) -> Bool {
        guard case .barred(_, _, isPage: true) = error, change.operation == .create else { return false }
        return recognizesRepeat
    }
}
