internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// When the upstream refuses a change for its content, or while others get through.
extension Attempt {
    /// The change fails, unless the upstream has already applied it.
    ///
    /// After a lost answer, the refusal may be about what that attempt did: the name is taken by the record that it made,
    /// or the order is closed by this edit. Also a first attempt may be refused because someone else has deleted the record,
    /// or has taken the same step.
    func outcome(ofRefusal failure: PushFailure) async throws -> PushOutcome {
        do {
            switch change.operation {
            case .update where change.isContentOnly:
                guard change.isTried, try await isStored() else { return .failed(failure) }
                return .acknowledged(record: nil)
            case .create where change.isTried:
                guard hasLookUp else { return .failed(unclear(failure)) }
                return try await outcome(ofRepeat: failure)
            case .update:
                if let outcome = try await shown(after: failure) { return outcome }
                return try isTooEarly() ? waitsForEarlierAttempt(failure) : refusal(failure)
            case .delete: return try await outcome(ofDeletion: failure)
            case .create: return try refusal(failure)
            }
        } catch UpstreamError.barred(let status, let message, _) where status != 402 && status != 403 {
            return try await outcome(ofBar: status, message, isLookUp: true)
        } catch UpstreamError.refused, UpstreamError.another, UpstreamError.barred, UpstreamError.gone,
            UpstreamError.malformed
        {
            // The account may neither change the record nor read it.
            return .failed(change.operation == .create ? unclear(failure) : failure)
        } catch let error as UpstreamError {
            let failure = change.operation == .create ? unclear(failure) : failure
            return try await outcome(ofDoubt: error, failure)
        }
    }

    /// The change fails. The upstream may keep a value unique that an older change takes from another record: until that is sent,
    /// the change is tried again.
    func refusal(_ failure: PushFailure) throws -> PushOutcome {
        try store.isFreeing(valuesOf: change) ? again(failure) : .failed(failure)
    }

    /// That the record has what was sent, or was deleted. Nil if it shows neither, or cannot be read. Throws if the account is
    /// shown no records at all: then the refusal may be about that, where a record that is missing is answered with 400.
    private func shown(after failure: PushFailure) async throws -> PushOutcome? {
        guard try reader.canRead(entity, change.address), try change.isTried || judge.hasServed(entity) else {
            return nil
        }
        guard let found = try await reader.record(of: entity, known: change.address) else {
            return try await isGone(throwsBarred: true) ? .gone(failure) : nil
        }
        if try change.isTried || isTelling(found.record), change.isSaid(by: found.record, of: entity) {
            // Others may have written it since, or taken the step.
            return self.found(found, as: .single, otherwise: .unseen)
        }
        return entity.isDeleted(found.record) ? .gone(failure) : nil
    }

    /// Whether a record with what was sent says that there was nothing to do: it shows each of these fields, and none of
    /// them may be as it was before an earlier change from here.
    private func isTelling(_ record: JSONText) throws -> Bool {
        guard change.isWhollyShown(in: record, of: entity) else { return false }
        let sent = change.body.members.map(\.key)
        return try !store.mayBeBehind(record, in: sent, of: entity, key: change.key, at: now())
    }

    /// Whether what was just read may be older than an attempt whose answer was lost.
    private func isTooEarly() throws -> Bool {
        try change.isTried && reconciler.wasFirstSentRecently && reader.canRead(entity, change.address)
    }

    /// Whether the record that was just asked for and not found is gone; false if that cannot be found out now.
    func isGone(throwsBarred: Bool = false) async throws -> Bool {
        do {
            return try await verdict(on: change.address, wasRead: true) == .gone
        } catch let error as UpstreamError where error != .cancelled {
            if throwsBarred, case .barred = error { throw error }
            return false
        }
    }

    /// A refused deletion is done if the record is gone. One that was created here a moment ago may only be shown late, and
    /// one that a lost attempt deleted may still be shown, so its deletion is sent again until the upstream has settled.
    private func outcome(ofDeletion failure: PushFailure) async throws -> PushOutcome {
        guard try reader.canRead(entity, change.address) else { return .failed(failure) }
        let verdict = try await verdict(on: change.address)
        return switch verdict {
        case .gone, .settling: outcome(of: verdict, failure)
        case .here, .cannotSay: try isTooEarly() ? waitsForEarlierAttempt(failure) : .failed(failure)
        }
    }
}
