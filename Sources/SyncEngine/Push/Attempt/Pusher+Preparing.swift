internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// What precedes an attempt: the merge with the server's version, and the look-up after an answer that was lost.
extension Pusher {
    /// Whether the upstream knows by the idempotency key that a change was sent before. It does not if the request is formed
    /// from the server's record: once an attempt has arrived, the repeat is another request under the same key.
    func recognizesRepeat(of change: OutboxChange) -> Bool {
        guard change.hasShownKey, change.replaced == nil, let entity = schema[change.entity] else { return false }
        return entity.recognizesRepeats(
            of: change.operation, record: change.record, fields: change.body.members.map(\.key), schema.upstream)
    }

    /// The change to send, merged with the server's version where needed, or how it ends without being sent; nil when nothing
    /// is left of it.
    func prepared(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared? {
        guard change.unreadable.isEmpty else { return Prepared(change, unreadable(change)) }
        // Sending a content twice is the same as sending it once.
        guard !change.isContentOnly else { return Prepared(change) }
        do {
            return change.operation == .create
                ? try await prepared(creation: change, entity) : try await merged(change, entity)
        } catch let error as UpstreamError where error != .cancelled {
            // Only the look-up failed; the change itself was not sent. Counted as an attempt, it would go unmerged the next time.
            let outcome = try await outcome(ofLookUp: error, change)
            let ending = Ending(outcome, after: error, appliedNothing: isReadForMergeAlone(change, entity))
            return Prepared(change, ending)
        }
    }

    private func prepared(creation change: OutboxChange, _ entity: Entity) async throws -> Prepared {
        if change.wasAccepted || change.isTried && !recognizesRepeat(of: change) {
            return try await lookedUp(change, entity)
        }
        guard change.isTried, hasLookUp(change, entity) else { return Prepared(change) }
        // Upstreams forget idempotency keys after a while, and some ignore them.
        return reconciler.wasFirstSentRecently(change)
            ? try await repeatable(change, entity) : try await lookedUp(change, entity)
    }

    private func merged(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared? {
        let isUnclear = change.isTried && !recognizesRepeat(of: change)
        if isUnclear, change.operation == .delete { return try await repeatable(deletion: change, entity) }
        let takesBack = try takesStepBack(change, entity)
        guard isUnclear && change.operation == .update || takesBack || isHeld(change, entity) else {
            return try await isLateRepeat(change) ? mergedRepeat(change, entity) : Prepared(change)
        }
        // The server's version decides what is left of the change, if it can be read.
        let found: RemoteRecord?
        do {
            found = try await refreshUnlessOlder(change, entity)
        } catch let error as UpstreamError where isSentUnread(change, entity, after: error) {
            return Prepared(change)
        }
        guard let found else { return try await unlessGone(change, entity) }
        guard let change = try store.sendableChange(change.id) else { return nil }
        guard isUnclear || takesBack, change.isSaid(by: found.record, of: entity) else { return Prepared(change) }
        return applied(change, found)
    }

    /// Whether an edit of a field with steps seems to take back one that was never sent: if the server still has that value, it
    /// may refuse to be set to it.
    func takesStepBack(_ change: OutboxChange, _ entity: Entity) throws -> Bool {
        guard change.operation == .update, !change.wasAttempted,
            change.body.members.contains(where: { entity[field: $0.key]?.hasSteps == true }),
            let known = try store.remote(of: change.entity, key: change.key)
        else { return false }
        return change.isSaid(by: known, of: entity)
    }

    /// Whether others may have edited the record since a change that is repeated under its key was made: its first attempt
    /// need not have arrived, and upstreams forget keys. An upstream that checks versions notices that by itself.
    private func isLateRepeat(_ change: OutboxChange) -> Bool {
        guard change.isTried, change.version == nil else { return false }
        return isTrial || !freshness.times(at: now(), monotonicNow: monotonicNow()).contains(change.createdAt)
    }

    /// The change, merged with the server's version if that can be read; nil when there is nothing left to send. Whether the
    /// record is gone, the answer to the repeat shows.
    private func mergedRepeat(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared? {
        do {
            guard try await refreshUnlessOlder(change, entity) != nil else { return Prepared(change) }
        } catch let error as UpstreamError where !error.concernsWholeUpstream && !mayBeMerged(change, by: error) {
            return Prepared(change)
        }
        return try asItIsNow(change)
    }

    /// The change as merging has left it; nil if nothing is left.
    func asItIsNow(_ change: OutboxChange) throws -> Prepared? {
        try store.sendableChange(change.id).map { Prepared($0) }
    }

    /// A change with a secret that cannot be opened fails: it is sent neither sealed nor without the secret.
    private func unreadable(_ change: OutboxChange) -> Ending {
        let fields = change.unreadable.joined(separator: ", ")
        let failure = PushFailure(
            .sealed,
            message: "\(fields) cannot be opened: sealed with another key, or damaged; discard this change and make it "
                + "again")
        return Ending(.failed(failure), appliedNothing: true)
    }

    var reconciler: CreateReconciler { CreateReconciler(environment, upstream) }

    private func lookedUp(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared {
        switch try await reconciler.finding(for: change, entity) {
        case .absent where change.wasAccepted: return Prepared(change, Ending(notListed(change)), isAttempt: true)
        case .absent: return Prepared(change)
        case .applied(let found): return applied(change, found)
        case .notYet(let reason):
            let failure = PushFailure(
                change.wasAccepted ? .accepted : .unseen,
                message: doubt(about: change, because: reason) + "; looking again later")
            // After the time to settle only a list that keeps changing is the reason, and it may be long.
            let wait = reconciler.hasSettled(change) ? max(lookUpRetry(change), Self.lookUpWait) : Self.lookUpWait
            return Prepared(change, Ending(.waiting(failure, at: monotonicNow() + wait, counted: false)))
        case .unknowable(let reason):
            let failure = PushFailure(
                .unclear,
                message: doubt(about: change, because: reason)
                    + ": check whether the upstream has the record, then retry or discard")
            return Prepared(change, Ending(.failed(failure)))
        }
    }

    /// Why it is not known whether the upstream has made a record: what came back last, in its own words, and what the look-up
    /// says. An attempt that ended with the process has no words.
    private func doubt(about change: OutboxChange, because reason: String) -> String {
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

    /// The change, to be repeated under its key, unless the upstream shows its record already.
    private func repeatable(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared {
        do {
            if case .applied(let found) = try await reconciler.finding(for: change, entity) {
                return applied(change, found)
            }
        } catch UpstreamError.refused, UpstreamError.another, UpstreamError.gone {}
        return Prepared(change)
    }

    /// Whether a record could not be read for a day while the upstream answers otherwise. An outage may have taken most of that day,
    /// and when it is over, some requests still fail.
    private func isLongUnreadable(_ change: OutboxChange) -> Bool {
        guard !isTrial, let first = change.lastAttemptAt else { return false }
        return now().since(first) >= .seconds(86_400)
            && monotonicNow().since(freshness.callableSince) >= .seconds(600)
    }

    /// Between two look-ups or attempts while the upstream may be behind.
    static let lookUpWait = Duration.seconds(10)

    /// Until the next look-up, after one that said nothing. Those before a first attempt are not counted, so the time since
    /// the first of them tells how long to wait.
    private func lookUpRetry(_ change: OutboxChange) -> Duration {
        guard change.isTried else {
            return retry.delay(after: change.lastAttemptAt.map { now().since($0) } ?? .zero, random: random())
        }
        return retry.delay(attempt: change.tried, random: random())
    }

    /// A change that turns out to be applied already.
    private func applied(_ change: OutboxChange, _ found: RemoteRecord) -> Prepared {
        Prepared(change, Ending(self.found(found, as: .answer, otherwise: change.wasAccepted ? .accepted : .unseen)))
    }

    /// Whether an edit must be merged with the server's version before it is sent: it is no longer fresh, and no incremental pull
    /// covers it. So must, whatever its version, a PUT that sends the whole record: it would erase what lists and answers leave
    /// out. So must, unless the server checks versions, an edit of a set, which sends what others have added to it, and an edit of
    /// a field that pulls do not show. A change whose address needs a value that the list lacks, such as a version, needs that
    /// first.
    func isHeld(_ change: OutboxChange, _ entity: Entity) -> Bool {
        guard change.operation != .create else { return false }
        if change.replaced != nil { return true }
        if !entity.missingPathFields(for: change.operation, record: change.address).isEmpty { return true }
        guard !change.isTried else { return false }
        let isOfSet = change.body.members.contains { entity[field: $0.key]?.mergesAsSet == true }
        if change.version == nil, isOfSet || change.isOfUnlisted { return true }
        if isTrial { return true }
        guard entity.pull.map({ $0.mode == .full }) ?? true else { return false }
        return !freshness.times(at: now(), monotonicNow: monotonicNow()).contains(change.createdAt)
    }

    /// Whether a change is sent although the reading before it has failed: the upstream does not show the record, or still fails
    /// at it after the time to settle, and may do so for ever. An answer that may concern the account must have been counted
    /// before: it is only while other changes get through.
    private func isSentUnread(_ change: OutboxChange, _ entity: Entity, after error: UpstreamError) -> Bool {
        if case .refused = error { return true }
        if case .another = error { return !mayBeMerged(change, by: error) }
        let isCounted = change.attemptCount > 0
        let mayLast =
            if case .unclear = error { isCounted || [.server, .timeout].contains(change.errorClass) } else { isCounted }
        return mayLast && !error.concernsWholeUpstream && isReadForMergeAlone(change, entity)
            && reconciler.hasSettled(change)
    }

    /// Whether the record of a deletion seems to be merged into another one: asked for it, the upstream answered with the other.
    /// If the upstream takes its key for the other's, the deletion would delete that one.
    func mayBeMerged(_ change: OutboxChange, by error: UpstreamError) -> Bool {
        if case .another = error { change.operation == .delete } else { false }
    }

    /// Whether a change that was never sent could go without the reading before it, which only merges it with the server's version.
    /// A PUT could not: it would undo what others have written. Nor could a change whose address needs a value of the record.
    func isReadForMergeAlone(_ change: OutboxChange, _ entity: Entity) -> Bool {
        !change.isTried && change.replaced == nil
            && entity.missingPathFields(for: change.operation, record: change.address).isEmpty
    }

    /// Brings the server's version of the record into the cache; nil when the server has none.
    func refresh(_ change: OutboxChange, _ entity: Entity) async throws -> RemoteRecord? {
        try await refresh(change, entity) { _ in true }
    }

    /// The same, but an older version than the cached one stays out, as from a server or a cache before it that is behind: a
    /// whole record that is sent over it would take back what others have written since.
    private func refreshUnlessOlder(_ change: OutboxChange, _ entity: Entity) async throws -> RemoteRecord? {
        try await refresh(change, entity) { found in
            guard !change.isOfUnlisted, let shown = entity.changeTime(of: found),
                let known = try store.remote(of: entity.name, key: change.key).flatMap(entity.changeTime)
            else { return true }
            return !shown.isSurely(before: known)
        }
    }

    private func refresh(
        _ change: OutboxChange, _ entity: Entity, if counts: (JSONText) throws -> Bool
    ) async throws -> RemoteRecord? {
        let position = try store.position()
        guard let found = try await reader.record(of: entity, known: change.address) else { return nil }
        guard try counts(found.record) else { return found }
        try await store.apply([found], of: entity, position: position, at: now())
        return found
    }

    /// The change, to be sent although its record was just asked for and not found, unless that is gone: then it ends, or waits.
    /// Some upstreams make a record of an edit that meets none.
    private func unlessGone(_ change: OutboxChange, _ entity: Entity) async throws -> Prepared {
        guard try reader.canRead(entity, change.address), try await isGone(change, entity) else {
            return Prepared(change)
        }
        let record = "\(entity.name)/\(entity.shownKey(of: change.address))"
        // A replica that is behind lacks what a list has just shown.
        if try store.hasJustCome(entity.name, key: change.key, at: now()) {
            let failure = PushFailure(.unseen, message: "\(record) is not found by its key yet")
            return Prepared(change, Ending(later(failure, "looking again later"), appliedNothing: true))
        }
        let failure = PushFailure(.gone, message: "\(record) was asked for before the change, and is gone")
        return Prepared(change, Ending(outcome(of: .gone, change, failure)))
    }

    /// A look-up that fails says nothing about the change: one that was accepted stays so, and is never sent again.
    func outcome(ofLookUp error: UpstreamError, _ change: OutboxChange) async throws -> PushOutcome {
        let outcome = try await outcome(ofFailedLookUp: error, change)
        guard change.wasAccepted, case .waiting(var failure, let next, let counted) = outcome else { return outcome }
        failure.errorClass = .accepted
        failure.message = change.acceptedMessage(failure.message)
        return .waiting(failure, at: next, counted: counted)
    }

    private func outcome(ofFailedLookUp error: UpstreamError, _ change: OutboxChange) async throws -> PushOutcome {
        switch error {
        case .unclear, .locked:
            var failure = PushFailure(error.status == nil ? .timeout : .server, error)
            if change.replaced != nil {
                failure = failure.adding(
                    "the record is read before it is sent as a whole, which body: $fields in the schema avoids")
                if isLongUnreadable(change) { return .failed(failure) }
            }
            return .waiting(failure, at: monotonicNow() + lookUpRetry(change), counted: false)
        case .gone(let status, let message), .barred(let status, let message, _):
            return try await outcome(ofBarred: change, status, message, isLookUp: true)
        case .refused, .another:
            let failure = PushFailure(.unclear, error)
            let advice = "if the two were merged, discard this deletion"
            return again(change, mayBeMerged(change, by: error) ? failure.adding(advice) : failure)
        default: return try await outcome(of: error, change)
        }
    }
}
