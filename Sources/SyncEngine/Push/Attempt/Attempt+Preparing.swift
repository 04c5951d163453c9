internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// What precedes an attempt: mostly the merge with the server's version.
extension Attempt {
    /// The change to send, merged with the server's version where needed, or how it ends without being sent; nil when nothing
    /// is left of it.
    func prepared() async throws -> Prepared? {
        guard change.unreadable.isEmpty else { return Prepared(change, unreadable) }
        do {
            if change.isContentOnly { return try await preparedContent() }
            return try await change.operation == .create ? preparedCreation() : merged()
        } catch let error as UpstreamError where error != .cancelled {
            // Only the look-up failed; the change itself was not sent. Counted as an attempt, it would go unmerged the next time.
            let outcome = try await outcome(ofLookUp: error)
            return Prepared(change, Ending(outcome, after: error, appliedNothing: isReadForMergeAlone))
        }
    }

    /// A content, unless an earlier attempt has stored it: a `POST` may add another one each time. Who may not read it sends it.
    private func preparedContent() async throws -> Prepared {
        guard change.isTried, !recognizesRepeat, change.request(of: entity)?.method == "POST" else {
            return Prepared(change)
        }
        do {
            guard try await isStored() else { return Prepared(change) }
        } catch UpstreamError.barred(403, _, _) {
            return Prepared(change)
        }
        return Prepared(change, Ending(.acknowledged(record: nil)))
    }

    private func merged() async throws -> Prepared? {
        let isUnclear = change.isTried && !recognizesRepeat
        if isUnclear, change.operation == .delete { return try await repeatableDeletion() }
        let takesBack = try takesStepBack()
        guard isUnclear && change.operation == .update || takesBack || isHeld else {
            return try await isLateRepeat ? mergedRepeat() : Prepared(change)
        }
        // The server's version decides what is left of the change, if it can be read.
        let found: RemoteRecord?
        do {
            found = try await refreshUnlessOlder()
        } catch let error as UpstreamError where isSentUnread(after: error) {
            return Prepared(change)
        }
        guard let found else { return try await unlessGone() }
        guard let change = try store.sendableChange(change.id) else { return nil }
        guard isUnclear || takesBack, change.isSaid(by: found.record, of: entity) else { return Prepared(change) }
        return applied(change, found)
    }

    /// Whether an edit of a field with steps seems to take back one that was never sent: if the server still has that value, it
    /// may refuse to be set to it.
    func takesStepBack() throws -> Bool {
        guard change.operation == .update, !change.wasAttempted,
            change.body.members.contains(where: { entity[field: $0.key]?.hasSteps == true }),
            let known = try store.remote(of: change.entity, key: change.key)
        else { return false }
        return change.isSaid(by: known, of: entity)
    }

    /// Whether others may have edited the record since a change that is repeated under its key was made: its first attempt
    /// need not have arrived, and upstreams forget keys. An upstream that checks versions notices that by itself.
    private var isLateRepeat: Bool {
        guard change.isTried, change.version == nil else { return false }
        return isTrial || !freshness.times(at: now(), monotonicNow: monotonicNow()).contains(change.createdAt)
    }

    /// The change, merged with the server's version if that can be read; nil when there is nothing left to send. Whether the
    /// record is gone, the answer to the repeat shows.
    private func mergedRepeat() async throws -> Prepared? {
        do {
            guard try await refreshUnlessOlder() != nil else { return Prepared(change) }
        } catch let error as UpstreamError where !error.concernsWholeUpstream && !mayBeMerged(by: error) {
            return Prepared(change)
        }
        return try asItIsNow()
    }

    /// The change as merging has left it; nil if nothing is left.
    private func asItIsNow() throws -> Prepared? {
        try store.sendableChange(change.id).map { Prepared($0) }
    }

    /// A change with a secret that cannot be opened fails: it is sent neither sealed nor without the secret.
    private var unreadable: Ending {
        let fields = change.unreadable.joined(separator: ", ")
        let failure = PushFailure(
            .sealed,
            message: "\(fields) cannot be opened: sealed with another key, or damaged; discard this change and make it "
                + "again")
        return Ending(.failed(failure), appliedNothing: true)
    }

    /// Whether the server's version must be read and merged before the change is sent. That is so for
    ///
    /// - an edit that is no longer fresh, if no incremental pull covers it;
    /// - a PUT of the whole record, whatever its version: it would erase what lists and answers leave out;
    /// - an edit of a set, which sends what others have added to it, or of a field that pulls do not show, unless the server
    ///   checks versions;
    /// - a change whose address needs a value that the list lacks, such as a version.
    var isHeld: Bool {
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
    private func isSentUnread(after error: UpstreamError) -> Bool {
        if case .refused = error { return true }
        if case .another = error { return !mayBeMerged(by: error) }
        let isCounted = change.attemptCount > 0
        let mayLast =
            if case .unclear = error { isCounted || [.server, .timeout].contains(change.errorClass) } else { isCounted }
        return mayLast && !error.concernsWholeUpstream && isReadForMergeAlone && reconciler.hasSettled()
    }

    /// Whether the record of a deletion seems to be merged into another one: asked for it, the upstream answered with the other.
    /// If the upstream takes its key for the other's, the deletion would delete that one.
    func mayBeMerged(by error: UpstreamError) -> Bool {
        if case .another = error { change.operation == .delete } else { false }
    }

    /// Whether a change that was never sent could go without the reading before it, which only merges it with the server's version.
    /// A PUT could not: it would undo what others have written. Nor could a change whose address needs a value of the record.
    var isReadForMergeAlone: Bool {
        !change.isTried && change.replaced == nil
            && entity.missingPathFields(for: change.operation, record: change.address).isEmpty
    }

    /// The same as `refresh`, but an older version than the cached one stays out, as from a server or a cache before it that is
    /// behind: a whole record that is sent over it would take back what others have written since.
    private func refreshUnlessOlder() async throws -> RemoteRecord? {
        try await refresh { found in
            guard !change.isOfUnlisted, let shown = entity.changeTime(of: found),
                let known = try store.remote(of: entity.name, key: change.key).flatMap(entity.changeTime)
            else { return true }
            return !shown.isSurely(before: known)
        }
    }

    /// Brings the server's version of the record into the cache, if it counts; nil when the server has none.
    func refresh(if counts: (JSONText) throws -> Bool = { _ in true }) async throws -> RemoteRecord? {
        let position = try store.position()
        guard let found = try await reader.record(of: entity, known: change.address) else { return nil }
        guard try counts(found.record) else { return found }
        try await store.apply([found], of: entity, position: position, at: now())
        return found
    }

    /// The change, to be sent although its record was just asked for and not found, unless that is gone: then it ends, or waits.
    /// Some upstreams make a record of an edit that meets none.
    private func unlessGone() async throws -> Prepared {
        guard try reader.canRead(entity, change.address), try await isGone() else { return Prepared(change) }
        let record = "\(entity.name)/\(entity.shownKey(of: change.address))"
        // A replica that is behind lacks what a list has just shown.
        if try store.hasJustCome(entity.name, key: change.key, at: now()) {
            let failure = PushFailure(.unseen, message: "\(record) is not found by its key yet")
            return Prepared(change, Ending(later(failure, "looking again later"), appliedNothing: true))
        }
        let failure = PushFailure(.gone, message: "\(record) was asked for before the change, and is gone")
        return Prepared(change, Ending(outcome(of: .gone, failure)))
    }

    /// A deletion whose answer was lost, to be repeated; nil when nothing is left to delete.
    ///
    /// The key may be another record's by now. What differs from the record that was deleted is merged like any change
    /// of the server.
    private func repeatableDeletion() async throws -> Prepared? {
        guard try reader.canRead(entity, change.address) else { return Prepared(change) }
        do {
            if try await refresh() != nil { return try asItIsNow() }
            let isGone = try await verdict(on: change.address, wasRead: true) == .gone
            return Prepared(change, isGone ? Ending(.acknowledged(record: nil)) : nil)
        } catch UpstreamError.gone, UpstreamError.refused {
            return Prepared(change)
        }
    }
}
