internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// When the server answers with 409, 412 or 428: it has another version of the record, or already has the one that is created.
/// It may also still be at work on an earlier attempt; any refusal of a change that was sent before may mean the same.
extension Attempt {
    /// The server has another version: fetches it, merges when the attempt is settled, and retries.
    func meet(_ failure: PushFailure) async throws -> Ending {
        if failure.status == 428, schema.upstream.version == nil {
            let advice =
                "the upstream wants to know the version that a change is based on: set upstream.version in the schema, "
                + "then retry"
            return Ending(.failed(failure.adding(advice)))
        }
        if change.operation == .create { return try await meetExisting(failure) }
        return try await ending(after: failure) {
            let base = try store.base(of: change)
            guard let found = try await refresh() else {
                return outcome(of: try await verdict(on: change.address, wasRead: true), failure)
            }
            if change.operation == .delete, entity.isDeleted(found.record) { return .acknowledged(record: nil) }
            let isRule = isRule(failure, base, found)
            return isRule ? try refusal(failure.classified(as: .refused)) : again(failure, atOnce: true)
        }
    }

    /// Whether an answer that usually means another version is about a rule of the server: the change was answered so
    /// before, and the record is still the one that it was made on.
    ///
    /// A reading may show an older version than the answer is about, if the upstream compares versions; and an attempt
    /// whose answer was lost may still be in progress. In both cases that is over when the time to settle is.
    private func isRule(_ failure: PushFailure, _ base: JSONText?, _ found: RemoteRecord) -> Bool {
        guard failure.status != 412, failure.status != 428, change.errorClass == failure.errorClass, let base,
            change.version == nil || found.version == change.version
        else { return false }
        let named = fieldsNamed
        let isNamedOld = named.contains { name in
            !change.meaning.isSame(
                entity.value(of: name, in: found.record) ?? .null, entity.value(of: name, in: change.record) ?? .null,
                of: name)
        }
        guard !isNamedOld else { return false }
        let isUnchanged = change.body.members.allSatisfy { field, _ in
            change.meaning.isSame(entity.value(of: field, in: found.record) ?? .null, base[field] ?? .null, of: field)
        }
        // What it sends besides may be the version too.
        let namesVersion = change.version != nil || change.replaced != nil || !named.isEmpty
        let isOnlyRepeated = change.tried == 1 && !namesVersion
        return isUnchanged && (isOnlyRepeated || !reconciler.wasFirstSentRecently)
    }

    /// What the body names of the record besides what changes and the key, such as its version.
    private var fieldsNamed: [String] {
        let sent = change.body.members.map(\.key)
        return entity.fieldsNamed(in: change.operation, record: change.record, besides: sent)
            .filter { $0 != entity.key }
    }

    // MARK: A creation

    /// A record with this key exists: ours, from an attempt whose answer was lost, or someone else's.
    private func meetExisting(_ failure: PushFailure) async throws -> Ending {
        var ending = try await ending(after: change.isTried ? unclear(failure) : failure) {
            if let found = try await reader.answer(of: entity, known: change.record),
                change.isSaid(by: found.record, of: entity)
            {
                return .acknowledged(record: found.record, version: found.version)
            }
            return change.isTried ? try await outcome(ofRepeat: failure) : try refusal(failure)
        }
        ending.appliedNothing = ending.error == nil && !change.isTried
        return ending
    }

    /// The answer may be about an earlier attempt, which is still in progress or has made the record. Once that must have
    /// settled, the look-up decides. Only if it says that there is no record is the creation refused, so that a correction
    /// may be sent as another one.
    func outcome(ofRepeat failure: PushFailure) async throws -> PushOutcome {
        let later = waitsForEarlierAttempt(failure)
        if reconciler.wasFirstSentRecently { return later }
        guard hasLookUp else { return .failed(unclear(failure)) }
        switch try await reconciler.finding() {
        case .applied(let found): return self.found(found, as: .answer, otherwise: .unseen)
        case .absent: return .failed(failure)
        case .notYet: return later
        case .unknowable(let reason): return .failed(unclear(failure, because: reason))
        }
    }

    func waitsForEarlierAttempt(_ failure: PushFailure) -> PushOutcome {
        later(failure, "an earlier attempt may still be in progress, so this one is repeated later")
    }

    func unclear(_ failure: PushFailure, because reason: String? = nil) -> PushFailure {
        let reason = reason.map { ", and \($0)" } ?? ""
        return failure.classified(as: .unclear).adding(
            "the answer to an earlier attempt was lost\(reason): check whether the upstream has the record, then retry "
                + "or discard")
    }
}
