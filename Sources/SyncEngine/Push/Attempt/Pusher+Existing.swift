internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// When the server answers a creation with 409: it has the record, or is still at work on an attempt. Any refusal of a
/// creation that was sent before may mean the same.
extension Pusher {
    /// A record with this key exists: ours, from an attempt whose answer was lost, or someone else's.
    func meetExisting(_ change: OutboxChange, _ entity: Entity, _ failure: PushFailure) async throws -> Ending {
        var ending = try await ending(of: change, change.isTried ? unclear(failure) : failure) {
            if let found = try await reader.answer(of: entity, known: change.record),
                change.isSaid(by: found.record, of: entity)
            {
                return .acknowledged(record: found.record, version: found.version)
            }
            return change.isTried ? try await outcome(ofRepeat: change, entity, failure) : .failed(failure)
        }
        ending.appliedNothing = ending.error == nil && !change.isTried
        return ending
    }

    /// The answer may be about an earlier attempt, which is still in progress or has made the record. Once that must have
    /// settled, the look-up decides. Only if it says that there is no record is the creation refused, so that a correction
    /// may be sent as another one.
    func outcome(
        ofRepeat change: OutboxChange, _ entity: Entity, _ failure: PushFailure
    ) async throws -> PushOutcome {
        let later = notShownYet(failure)
        if reconciler.wasFirstSentRecently(change) { return later }
        guard hasLookUp(change, entity) else { return .failed(unclear(failure)) }
        switch try await reconciler.finding(for: change, entity) {
        case .applied(let found): return self.found(found, as: .answer, otherwise: .unseen)
        case .absent: return .failed(failure)
        case .notYet: return later
        case .unknowable(let reason): return .failed(unclear(failure, because: reason))
        }
    }

    func notShownYet(_ failure: PushFailure) -> PushOutcome {
        later(failure, "an earlier attempt may still be in progress, so this one is repeated later")
    }

    func unclear(_ failure: PushFailure, because reason: String? = nil) -> PushFailure {
        let reason = reason.map { ", and \($0)" } ?? ""
        return failure.classified(as: .unclear).adding(
            "the answer to an earlier attempt was lost\(reason): check whether the upstream has the record, then retry "
                + "or discard")
    }
}
