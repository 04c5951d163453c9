internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// When the server answers that there is no such record, or leads to another one.
extension Attempt {
    /// How the attempt ends by what `reading` finds. If the reading fails, its error decides what the failure of the change means.
    func ending(after failure: PushFailure, by reading: () async throws -> PushOutcome) async throws -> Ending {
        do {
            return Ending(try await reading())
        } catch let error as UpstreamError {
            return Ending(try await outcome(ofDoubt: error, failure), after: error)
        }
    }

    /// The server answered that there is no such record: finds out whether that is so.
    func confirmGone(_ failure: PushFailure) async throws -> Ending {
        try await ending(after: failure) {
            let position = try store.position()
            let verdict = try await verdict(on: change.address)
            guard case .here(let found) = verdict else { return outcome(of: verdict, failure) }
            if entity.isMoved(found.record, from: change.address) {
                return try await outcome(ofMoved: found, failure, position)
            }
            return try isOfNewRecord() ? waitsForNewRecord(failure) : outcome(of: verdict, failure)
        }
    }

    /// The record is at another address: an attempt whose answer was lost has moved it, and has done the change if the record
    /// shows it. Else the change is sent there.
    private func outcome(
        ofMoved found: RemoteRecord, _ failure: PushFailure, _ position: Int64
    ) async throws -> PushOutcome {
        let mayBeDone = change.operation == .update && !change.isContentOnly && change.isTried
        if mayBeDone, change.isSaid(by: found.record, of: entity) {
            return self.found(found, as: .single, otherwise: .unseen)
        }
        try await store.apply([found], of: entity, position: position, at: now())
        return again(failure, atOnce: true)
    }

    /// The server answered a creation with 404: what it belongs to is gone or not there yet, or a gateway answers for the
    /// server. It fails when it is answered so again while the server is well.
    func confirmRefusal(_ failure: PushFailure) async throws -> Ending {
        var ending = try await ending(after: failure) {
            let listed = try reader.parent(of: entity, change.record)?.entity ?? entity
            guard try await judge.isServing(listed) else {
                throw UpstreamError.barred(status: failure.status ?? 404, failure.message)
            }
            if try refersToNewRecord() { return waitsForNewRecord(failure) }
            return change.attemptCount > 0 ? .failed(failure) : again(failure)
        }
        ending.appliedNothing = true
        return ending
    }

    /// Whether a new record refers to one that was created here a moment ago, so that a server which is behind may lack that.
    private func refersToNewRecord() throws -> Bool {
        try entity.references.contains { field, target in
            guard let key = entity.value(of: field, in: change.record), key.kind != .null else { return false }
            return try store.isNew(target, key: key.plain, at: now())
        }
    }

    /// Whether an edit is of a record that was created here a moment ago: a part of the server that is behind may lack it.
    private func isOfNewRecord() throws -> Bool {
        guard change.operation == .update, !change.isContentOnly else { return false }
        return try store.isNew(entity.name, key: change.address[entity.key]?.plain ?? change.key, at: now())
    }

    private func waitsForNewRecord(_ failure: PushFailure) -> PushOutcome {
        later(
            failure.classified(as: .unseen), "what is missing was made a moment ago, so the change is sent again later")
    }

    /// Whether the upstream lacks a record. `wasRead`: it was just asked for and not found.
    func verdict(on known: JSONText, wasRead: Bool = false) async throws -> AbsenceJudge.Verdict {
        guard entity.pull == nil else {
            let verdict = try await judge.verdict(on: known, of: entity, wasRead: wasRead)
            guard verdict == .gone, try await judge.lists(known, of: entity) else { return verdict }
            return .cannotSay("the list of \(entity.name) has it")
        }
        guard let parent = try reader.parent(of: entity, known) else {
            return .cannotSay("\(entity.name) can only be asked for with their parent, which is not known")
        }
        switch try await judge.verdict(on: parent.record, of: parent.entity) {
        case .here: return try await verdictAmongSiblings(known)
        case let other: return other
        }
    }

    /// The parent is there: its children show whether the record is.
    private func verdictAmongSiblings(_ known: JSONText) async throws -> AbsenceJudge.Verdict {
        let verdict = try await reader.verdictOfSiblings(of: entity, known)
        if case .here = verdict { return verdict }
        return try store.isNew(entity.name, key: known[entity.key]?.plain ?? "", at: now()) ? .settling : verdict
    }

    /// A redirect concerns the account, unless the upstream, asked for the record, shows another one, into which it was
    /// merged: what of the change belongs there, a person decides.
    func confirmRedirect(_ error: UpstreamError) async throws -> Ending {
        if change.operation != .create {
            do {
                // Many programs answer so when they took what was sent.
                if change.isContentOnly, try await isStored() { return Ending(.acknowledged(record: nil)) }
                _ = try await reader.record(of: entity, known: change.address)
            } catch UpstreamError.another(let message) {
                let advice = "\(message), so the two may have been merged: discard this change, and make it there"
                return Ending(.failed(PushFailure(.gone, error).adding(advice)), appliedNothing: true)
            } catch let error as UpstreamError where error != .cancelled {}
        }
        return Ending(try await outcome(of: error), after: error)
    }

    /// What a verdict on a missing record means for a change of it.
    func outcome(of verdict: AbsenceJudge.Verdict, _ failure: PushFailure) -> PushOutcome {
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
            guard reconciler.wasFirstSentRecently else { return .failed(failure) }
            return later(failure, "the upstream still shows the record, but may be behind, so this is sent again later")
        case .here: return again(failure)
        case .cannotSay(let reason): return again(failure.adding("whether the record is gone is not known: \(reason)"))
        }
    }

    /// The outcome when the witness could not be asked, or was not there either.
    func outcome(ofDoubt error: UpstreamError, _ failure: PushFailure) async throws -> PushOutcome {
        switch error {
        case .barred, .offline, .held, .cancelled, .throttled, .unauthorized: try await outcome(of: error)
        case .unclear(_, let message), .locked(_, let message):
            failure.errorClass == .gone ? undecided(failure, message) : again(failure)
        case .changed, .gone, .refused, .another, .malformed: again(failure)
        }
    }

    /// A 404 without an answer from the witness says nothing about the record, so it is not counted: a long outage would end
    /// the change. The pauses grow all the same, by the time since the last attempt that was answered so.
    private func undecided(_ failure: PushFailure, _ message: String) -> PushOutcome {
        // Not of the class `gone`: after that the next 404 fails the change, which is right only if the record was
        // there.
        let undecided = failure.classified(as: .server).adding("whether that is so is not known: \(message)")
        let last = change.errorClass == .server ? change.lastAttemptAt : nil
        let pause = retry.delay(after: last.map { now().since($0) } ?? .zero, random: random())
        return .waiting(undecided, at: monotonicNow() + pause, counted: false)
    }
}
