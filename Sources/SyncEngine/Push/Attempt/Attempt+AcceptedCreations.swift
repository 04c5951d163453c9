internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// A creation that was accepted without its record: where the record is, and what to do without it.
extension Attempt {
    /// Looks for the record where the answer says that it is, else by the schema's look-up. It is not created again
    /// while it may exist.
    func search(at key: String? = nil) async throws -> PushOutcome {
        do {
            if let key, let outcome = try await outcome(at: key) { return outcome }
            guard hasLookUp else { return try await withoutLookUp() }
            if case .applied(let found) = try await reconciler.finding() {
                return self.found(found, as: .single, otherwise: .accepted)
            }
        } catch let error as UpstreamError where error != .cancelled {
            guard hasLookUp else { return repeated() }
        }
        return notListed()
    }

    /// The `Location` of the answer has this key: nil if the record there is not the new one. If the upstream serves no
    /// single records there, a key that was not known before counts, unless it may be that of another creation.
    private func outcome(at key: String) async throws -> PushOutcome? {
        let known = change.record.setting(entity.key, to: entity.keyValue(key))
        guard try reader.canRead(entity, known) else { return nil }
        do {
            guard let found = try await reader.record(of: entity, known: known) else { return nil }
            return try own(found).map { acknowledged(asRead: $0) }
        } catch let error as UpstreamError where error.isUnknownMethod {
            guard try !isAnother(key), try await otherCreations().isEmpty else { return nil }
            return .acknowledged(record: .object([entity.key: entity.keyValue(key)]))
        }
    }

    /// The key shows whether the upstream has answered the request before, so repeating it once may bring the record.
    private func withoutLookUp() async throws -> PushOutcome {
        guard !change.isTried, recognizesRepeat else {
            // The upstream gave it another key, which a pull will bring; or it cannot be asked.
            guard change.isTried, try reader.canRead(entity, change.record),
                let found = try await reader.record(of: entity, known: change.record)
            else { return .acknowledged(record: nil) }
            return acknowledged(asRead: found)
        }
        let failure = PushFailure(
            .malformed, message: "the answer held no record with a key; repeating the request once")
        return .waiting(failure, at: monotonicNow(), counted: false)
    }

    /// The record cannot be read now; its key shows when the request is repeated, or else in a pull.
    private func repeated() -> PushOutcome {
        guard recognizesRepeat else { return .acknowledged(record: nil) }
        let failure = PushFailure(
            .malformed, message: "the answer held no record with a key, and reading it failed; repeating later")
        let outcome = again(failure)
        if case .failed = outcome { return .acknowledged(record: nil) }
        return outcome
    }

    /// What a look-up found, unless another creation with the same values has found it too; it fails with this class then.
    func found(_ record: RemoteRecord, as view: RecordView, otherwise errorClass: ErrorClass) -> PushOutcome {
        let message = "the record that was found is another creation's with the same values; looking again"
        return .found(
            record: record.record, version: record.version, view: view,
            otherwise: PushFailure(errorClass, message: message), at: monotonicNow())
    }

    /// The upstream accepted the creation and does not show the record yet: looked for again later.
    func notListed() -> PushOutcome {
        let message = change.acceptedMessage("does not list it yet; looking again later")
        let outcome = again(PushFailure(.accepted, message: message))
        guard case .failed = outcome else { return outcome }
        let advice = "does not list it: check whether it has the record, then retry or discard"
        return .failed(PushFailure(.unclear, message: change.acceptedMessage(advice)))
    }
}

extension OutboxChange {
    /// The upstream has accepted the creation; only the record is not known yet.
    var wasAccepted: Bool { errorClass == .accepted }

    /// What the upstream answered to an accepted creation, such as an older record, and what has been seen since. The next
    /// message begins with the same answer.
    static func acceptedMessage(_ answer: String, _ seen: String) -> String { answer + acceptanceEnd + seen }

    func acceptedMessage(_ seen: String) -> String {
        guard wasAccepted, let last = errorMessage, let end = last.firstRange(of: Self.acceptanceEnd) else {
            return Self.acceptedMessage("the upstream accepted this without a record", seen)
        }
        return Self.acceptedMessage(String(last[..<end.lowerBound]), seen)
    }

    private static let acceptanceEnd = ", and "
}
