internal import CacheStore
internal import EntitySchema
internal import Upstream

/// What precedes the attempt of a creation: the look-up after an answer that was lost. It may fail, like the reading before
/// any other change.
extension Attempt {
    var hasLookUp: Bool {
        entity.route(for: .create, record: change.record)?.lookUp != nil
    }

    func preparedCreation() async throws -> Prepared {
        if change.wasAccepted || change.isTried && !recognizesRepeat {
            return try await lookedUp()
        }
        guard change.isTried, hasLookUp else { return Prepared(change) }
        // Upstreams forget idempotency keys after a while, and some ignore them.
        return reconciler.wasFirstSentRecently
            ? try await repeatable() : try await lookedUp()
    }

    private func lookedUp() async throws -> Prepared {
        switch try await reconciler.finding() {
        case .absent where change.wasAccepted: return Prepared(change, Ending(notListed()), isAttempt: true)
        case .absent: return Prepared(change)
        case .applied(let found): return applied(change, found)
        case .notYet(let reason):
            let failure = PushFailure(
                change.wasAccepted ? .accepted : .unseen,
                message: doubt(because: reason) + "; looking again later")
            // After the time to settle only a list that keeps changing is the reason, and it may be long.
            let wait = reconciler.hasSettled() ? max(lookUpRetry, Self.lookUpWait) : Self.lookUpWait
            return Prepared(change, Ending(.waiting(failure, at: monotonicNow() + wait, counted: false)))
        case .unknowable(let reason):
            let failure = PushFailure(
                .unclear,
                message: doubt(because: reason)
                    + ": check whether the upstream has the record, then retry or discard")
            return Prepared(change, Ending(.failed(failure)))
        }
    }

    /// The change, to be repeated under its key, unless the upstream shows its record already.
    private func repeatable() async throws -> Prepared {
        do {
            if case .applied(let found) = try await reconciler.finding() {
                return applied(change, found)
            }
        } catch UpstreamError.refused, UpstreamError.another, UpstreamError.gone {}
        return Prepared(change)
    }

    /// A change that turns out to be applied already.
    func applied(_ change: OutboxChange, _ found: RemoteRecord) -> Prepared {
        Prepared(change, Ending(self.found(found, as: .answer, otherwise: change.wasAccepted ? .accepted : .unseen)))
    }

    /// Why it is not known whether the upstream has made a record: what came back last, in its own words, and what the look-up
    /// says. An attempt that ended with the process has no words.
    private func doubt(because reason: String) -> String {
        if change.wasAccepted { return change.acceptedMessage(reason) }
        let leavesDoubt: Set<ErrorClass> = [.server, .timeout, .malformed, .repeated, .unseen]
        guard let said = change.errorMessage, let errorClass = change.errorClass,
            leavesDoubt.contains(errorClass)
        else { return "the answer was lost\(Self.doubtMark)\(reason)" }
        // An earlier look-up has added its reason.
        let end = said.firstRange(of: Self.doubtMark)?.lowerBound ?? said.endIndex
        return "\(said[..<end])\(Self.doubtMark)\(reason)"
    }

    private static let doubtMark = "; it is not known whether the record was made, and "

    /// Between two look-ups or attempts while the upstream may be behind.
    static let lookUpWait = Duration.seconds(10)

    /// Until the next look-up, after one that said nothing. Those before a first attempt are not counted, so the time since
    /// the first of them tells how long to wait.
    private var lookUpRetry: Duration {
        guard change.isTried else {
            return retry.delay(after: change.lastAttemptAt.map { now().since($0) } ?? .zero, random: random())
        }
        return retry.delay(attempt: change.tried, random: random())
    }

    // MARK: A look-up that failed

    /// A look-up that fails says nothing about the change: one that was accepted stays so, and is never sent again.
    func outcome(ofLookUp error: UpstreamError) async throws -> PushOutcome {
        let outcome = try await outcome(ofFailedLookUp: error)
        guard change.wasAccepted, case .waiting(var failure, let next, let counted) = outcome else { return outcome }
        failure.errorClass = .accepted
        failure.message = change.acceptedMessage(failure.message)
        return .waiting(failure, at: next, counted: counted)
    }

    private func outcome(ofFailedLookUp error: UpstreamError) async throws -> PushOutcome {
        switch error {
        case .unclear, .locked:
            var failure = PushFailure(error.status == nil ? .timeout : .server, error)
            if change.replaced != nil {
                failure = failure.adding(
                    "the record is read before it is sent as a whole, which body: $fields in the schema avoids")
                if isLongUnreadable { return .failed(failure) }
            }
            return .waiting(failure, at: monotonicNow() + lookUpRetry, counted: false)
        case .gone(let status, let message), .barred(let status, let message, _):
            return try await outcome(ofBar: status, message, isLookUp: true)
        case .refused, .another:
            let failure = PushFailure(.unclear, error)
            let advice = "if the two were merged, discard this deletion"
            return again(mayBeMerged(by: error) ? failure.adding(advice) : failure)
        default: return try await outcome(of: error)
        }
    }

    /// Whether a record could not be read for a day while the upstream answers otherwise. An outage may have taken most of that
    /// day, and when it is over, some requests still fail.
    private var isLongUnreadable: Bool {
        guard !isTrial, let first = change.lastAttemptAt else { return false }
        return now().since(first) >= .seconds(86_400)
            && monotonicNow().since(freshness.callableSince) >= .seconds(600)
    }
}
