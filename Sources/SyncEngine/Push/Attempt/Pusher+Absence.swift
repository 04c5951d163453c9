internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// When the server answers a change with another version, or without the record.
extension Pusher {
    var judge: AbsenceJudge { AbsenceJudge(environment, upstream) }

    /// The server has another version: fetches it, merges when the attempt is settled, and retries.
    func meet(_ change: OutboxChange, _ entity: Entity, _ failure: PushFailure) async throws -> Ending {
        if failure.status == 428, schema.upstream.version == nil {
            let advice =
                "the upstream wants to know the version that a change is based on: set upstream.version in the schema, "
                + "then retry"
            return Ending(.failed(failure.adding(advice)))
        }
        if change.operation == .create { return try await meetExisting(change, entity, failure) }
        return try await ending(of: change, failure) {
            let base = try store.base(of: change)
            guard let found = try await refresh(change, entity) else {
                return outcome(of: try await verdict(on: change.address, entity, wasRead: true), change, failure)
            }
            if change.operation == .delete, entity.isDeleted(found.record) { return .acknowledged(record: nil) }
            let isRule = isRule(failure, change, entity, base, found)
            return isRule ? .failed(failure.classified(as: .refused)) : again(change, failure, atOnce: true)
        }
    }

    /// The ending that `reading` finds. If the reading fails, the ending says so after the failure of the change.
    func ending(
        of change: OutboxChange, _ failure: PushFailure, by reading: () async throws -> PushOutcome
    ) async throws -> Ending {
        do {
            return Ending(try await reading())
        } catch let error as UpstreamError {
            return Ending(try await outcome(ofDoubt: error, change, failure), after: error)
        }
    }

    /// Whether an answer that usually means another version is about a rule of the server: the change was answered so
    /// before, and the record is still the one that it was made on.
    ///
    /// A reading may show an older version than the answer is about, if the upstream compares versions; and an attempt
    /// whose answer was lost may still be in progress. In both cases that is over when the time to settle is.
    private func isRule(
        _ failure: PushFailure, _ change: OutboxChange, _ entity: Entity, _ base: JSONText?, _ found: RemoteRecord
    ) -> Bool {
        guard failure.status != 412, failure.status != 428, change.errorClass == failure.errorClass, let base,
            change.version == nil || found.version == change.version
        else { return false }
        let named = fieldsNamed(in: change, entity)
        let isNamedOld = named.contains { name in
            !change.meaning.isSame(
                entity.value(of: name, in: found.record) ?? .null, entity.value(of: name, in: change.record) ?? .null,
                of: name)
        }
        guard !isNamedOld else { return false }
        let isUnchanged = change.body.members.allSatisfy { field, _ in
            change.meaning.isSame(
                entity.value(of: field, in: found.record) ?? .null, base[field] ?? .null, of: field)
        }
        // What it sends besides may be the version too.
        let namesVersion = change.version != nil || change.replaced != nil || !named.isEmpty
        let isOnlyRepeated = change.tried == 1 && !namesVersion
        return isUnchanged && (isOnlyRepeated || !reconciler.wasFirstSentRecently(change))
    }

    /// What the body names of the record besides what changes and the key, such as its version.
    private func fieldsNamed(in change: OutboxChange, _ entity: Entity) -> [String] {
        let sent = change.body.members.map(\.key)
        return entity.fieldsNamed(in: change.operation, record: change.record, besides: sent).filter {
            $0 != entity.key
        }
    }

    /// A deletion whose answer was lost, to be repeated; nil when nothing is left to delete.
    ///
    /// The key may be another record's by now. What differs from the record that was deleted is merged like any change
    /// of the server.
    func repeatable(deletion change: OutboxChange, _ entity: Entity) async throws -> Prepared? {
        guard try reader.canRead(entity, change.address) else { return Prepared(change) }
        do {
            if try await refresh(change, entity) != nil { return try asItIsNow(change) }
            let isGone = try await verdict(on: change.address, entity, wasRead: true) == .gone
            return Prepared(change, isGone ? Ending(.acknowledged(record: nil)) : nil)
        } catch UpstreamError.gone, UpstreamError.refused {
            return Prepared(change)
        }
    }

    /// The server answered that there is no such record: finds out whether that is so.
    func confirmGone(_ change: OutboxChange, _ entity: Entity, _ failure: PushFailure) async throws -> Ending {
        try await ending(of: change, failure) {
            let position = try store.position()
            let verdict = try await verdict(on: change.address, entity)
            guard case .here(let found) = verdict else { return outcome(of: verdict, change, failure) }
            if entity.isMoved(found.record, from: change.address) {
                return try await outcome(ofMoved: found, change, entity, failure, position)
            }
            return try isOfNewRecord(change, entity) ? notThereYet(failure) : outcome(of: verdict, change, failure)
        }
    }

    /// The record is at another address: an attempt whose answer was lost has moved it, and has done the change if the record
    /// shows it. Else the change is sent there.
    private func outcome(
        ofMoved found: RemoteRecord, _ change: OutboxChange, _ entity: Entity, _ failure: PushFailure, _ position: Int64
    ) async throws -> PushOutcome {
        if change.operation == .update, !change.isContentOnly, change.isTried,
            change.isSaid(by: found.record, of: entity)
        {
            return acknowledged(asRead: found)
        }
        try await store.apply([found], of: entity, position: position, at: now())
        return again(change, failure, atOnce: true)
    }

    /// The server answered a creation with 404: what it belongs to is gone or not there yet, or a gateway answers for the
    /// server. It fails when it is answered so again while the server is well.
    func confirmRefusal(_ change: OutboxChange, _ entity: Entity, _ failure: PushFailure) async throws -> Ending {
        var ending = try await ending(of: change, failure) {
            let listed = try reader.parent(of: entity, change.record)?.entity ?? entity
            guard try await judge.isServing(listed) else {
                throw UpstreamError.barred(status: failure.status ?? 404, failure.message)
            }
            if try refersToNewRecord(change, entity) { return notThereYet(failure) }
            return change.attemptCount > 0 ? .failed(failure) : again(change, failure)
        }
        ending.appliedNothing = true
        return ending
    }

    /// Whether a new record refers to one that was created here a moment ago, so that a server which is behind may lack that.
    private func refersToNewRecord(_ change: OutboxChange, _ entity: Entity) throws -> Bool {
        try entity.references.contains { field, target in
            guard let key = entity.value(of: field, in: change.record), key.kind != .null else { return false }
            return try store.isNew(target, key: key.plain, at: now())
        }
    }

    /// Whether an edit is of a record that was created here a moment ago: a part of the server that is behind may lack it.
    private func isOfNewRecord(_ change: OutboxChange, _ entity: Entity) throws -> Bool {
        guard change.operation == .update, !change.isContentOnly else { return false }
        return try store.isNew(entity.name, key: change.address[entity.key]?.plain ?? change.key, at: now())
    }

    private func notThereYet(_ failure: PushFailure) -> PushOutcome {
        later(
            failure.classified(as: .unseen), "what is missing was made a moment ago, so the change is sent again later")
    }

    /// Whether the upstream lacks a record. `wasRead`: it was just asked for and not found.
    func verdict(
        on known: JSONText, _ entity: Entity, wasRead: Bool = false
    ) async throws -> AbsenceJudge.Verdict {
        guard entity.pull == nil else {
            let verdict = try await judge.verdict(on: known, of: entity, wasRead: wasRead)
            guard verdict == .gone, try await judge.lists(known, of: entity) else { return verdict }
            return .cannotSay("the list of \(entity.name) has it")
        }
        guard let parent = try reader.parent(of: entity, known) else {
            return .cannotSay("\(entity.name) can only be asked for with their parent, which is not known")
        }
        switch try await judge.verdict(on: parent.record, of: parent.entity) {
        case .here: return try await verdictAmongSiblings(known, entity)
        case let other: return other
        }
    }

    /// The parent is there: its children show whether the record is.
    private func verdictAmongSiblings(
        _ known: JSONText, _ entity: Entity
    ) async throws -> AbsenceJudge.Verdict {
        let verdict = try await reader.verdictOfSiblings(of: entity, known)
        if case .here = verdict { return verdict }
        return try store.isNew(entity.name, key: known[entity.key]?.plain ?? "", at: now()) ? .settling : verdict
    }

    /// A redirect concerns the account, unless the upstream, asked for the record, shows another one, into which it was
    /// merged: what of the change belongs there, a person decides.
    func confirmRedirect(_ change: OutboxChange, _ entity: Entity, _ error: UpstreamError) async throws -> Ending {
        if change.operation != .create {
            do {
                _ = try await reader.record(of: entity, known: change.address)
            } catch UpstreamError.another(let message) {
                let advice = "\(message), so the two may have been merged: discard this change, and make it there"
                return Ending(.failed(PushFailure(.gone, error).adding(advice)), appliedNothing: true)
            } catch let error as UpstreamError where error != .cancelled {}
        }
        return Ending(try await outcome(of: error, change), after: error)
    }

    /// What a verdict on a missing record means for a change of it.
    func outcome(
        of verdict: AbsenceJudge.Verdict, _ change: OutboxChange, _ failure: PushFailure
    ) -> PushOutcome {
        switch verdict {
        // The content is removed, with its record or without it.
        case .gone where change.content == .removal, .here where change.content == .removal:
            return .acknowledged(record: nil)
        // The upstream says that it was deleted, and shows what is left of it.
        case .here where change.operation == .delete && failure.status == 410: return .acknowledged(record: nil)
        case .gone: return change.operation == .delete ? .acknowledged(record: nil) : .gone(failure)
        case .settling:
            // Of another class than when the record is there, because only that answer fails a change when it comes again.
            return .waiting(failure.classified(as: .unseen), at: monotonicNow() + retry.base, counted: false)
        // The record exists, so the answer is about this change: the path of its route, or a rule of the server. Until the
        // upstream has settled, the record may also have been deleted, by an attempt whose answer was lost or by someone else,
        // at a server whose reads lag.
        case .here(let found) where failure.errorClass == .gone && change.errorClass == .gone && !found.isRepeated:
            guard reconciler.wasFirstSentRecently(change) else { return .failed(failure) }
            return later(
                failure, "the upstream still shows the record, but may be behind, so this is sent again later")
        case .here: return again(change, failure)
        case .cannotSay(let reason):
            return again(change, failure.adding("whether the record is gone is not known: \(reason)"))
        }
    }

    /// The outcome when the witness could not be asked, or was not there either.
    func outcome(
        ofDoubt error: UpstreamError, _ change: OutboxChange, _ failure: PushFailure
    ) async throws -> PushOutcome {
        switch error {
        case .barred, .offline, .held, .cancelled, .throttled, .unauthorized: try await outcome(of: error, change)
        case .unclear(_, let message), .locked(_, let message):
            failure.errorClass == .gone ? undecided(change, failure, message) : again(change, failure)
        case .changed, .gone, .refused, .another, .malformed: again(change, failure)
        }
    }

    /// A 404 without an answer from the witness says nothing about the record, so it is not counted: a long outage would end
    /// the change. The pauses grow all the same, by the time since the last attempt that was answered so.
    private func undecided(_ change: OutboxChange, _ failure: PushFailure, _ message: String) -> PushOutcome {
        // Not of the class `gone`: after that the next 404 fails the change, which is right only if the record was
        // there.
        let undecided = failure.classified(as: .server).adding("whether that is so is not known: \(message)")
        let last = change.errorClass == .server ? change.lastAttemptAt : nil
        let pause = retry.delay(after: last.map { now().since($0) } ?? .zero, random: random())
        return .waiting(undecided, at: monotonicNow() + pause, counted: false)
    }
}
