internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// What follows from an answer of 2xx: with the record, or not recognised.
extension Attempt {
    /// The outcome of a change that the upstream has answered with success.
    ///
    /// An edit answered with another id was renamed, provided that the upstream no longer has the old id; otherwise the
    /// answer is about another record, and the record itself shows whether the edit was applied. If not, repeating it may
    /// make a record each time, so people have to look.
    func outcome(of answer: PushAnswer) async throws -> PushOutcome {
        guard change.operation == .update, let answered = answer.record, case let record = answered.record,
            let key = record[entity.key]?.plain
        else { return try await acknowledgement(by: answer) }
        if key.exact == change.key.exact, refers(to: key, besides: record) {
            // A line and its order can have the same number, so the answer may be the order.
            return try await acknowledgement(by: .accepted(location: nil))
        }
        guard key.exact != change.key.exact, try reader.canRead(entity, change.address) else {
            return try await acknowledgement(by: answer)
        }
        var believed = answer
        do {
            if let old = try await reader.record(of: entity, known: change.address),
                entity.isKey(change.key, of: old.record)
            {
                if change.isSaid(by: old.record, of: entity) {
                    believed = .record(old)
                } else if answered.isLater {
                    // The job that will apply it: `{"id": 77, "status": "queued"}`.
                    believed = .accepted(location: nil)
                } else {
                    return .failed(answeredWithAnother(entity.shownKey(of: record)))
                }
            }
        } catch let error as UpstreamError where error != .cancelled {
            // A record with all that was sent and a key that is new here can only be this one.
            let isNew = try store.remoteState(of: key, entity.name) == .unknown(key: key)
            if !(isNew && change.isSaid(by: record, of: entity)) { believed = .accepted(location: nil) }
        }
        return try await acknowledgement(by: believed)
    }

    private func answeredWithAnother(_ key: String) -> PushFailure {
        PushFailure(
            .unclear,
            message: "the upstream answered with another record, \(key), and this one does not show the change: see "
                + "what it did, correct the route in the schema if it is wrong, then retry or discard")
    }

    /// The outcome of a change that the upstream has accepted.
    ///
    /// A repeat may be answered with the first answer, and an answer without a record, or with a stub of it, says nothing about
    /// it, so in these cases the record is read.
    func acknowledgement(by answer: PushAnswer) async throws -> PushOutcome {
        if let record = unusable(answer) { return try await outcome(ofUnusable: record) }
        // Where the change has put it.
        let moved = entity.moved(change.address, by: change.body)
        let answered = answer.record.map { reader.withParent($0, of: entity, like: moved) }
        let plain = PushOutcome.acknowledged(record: answered?.record, version: answered?.version)
        if change.operation == .create, let outcome = try await outcome(ofUncertain: answer, showing: answered) {
            return outcome
        }
        let isUnknown = !change.isContentOnly && (answered.map { change.isStub($0.record, of: entity) } ?? true)
        let known = answered?.record ?? moved
        guard change.isTried || isUnknown, change.operation != .delete, try reader.canRead(entity, known) else {
            guard case .accepted(_, isSilent: true) = answer else { return plain }
            return try await silence() ?? plain
        }
        return try await acknowledgement(reading: known, showing: answered) ?? plain
    }

    /// The outcome once the record was read; nil if that says nothing more than the answer, which has shown `answered`.
    private func acknowledgement(
        reading known: JSONText, showing answered: RemoteRecord?
    ) async throws -> PushOutcome? {
        do {
            if let found = try await reader.record(of: entity, known: known) {
                let appliedAt = answered.flatMap { changeTime(of: $0) }
                // Read where the upstream is behind its own answer.
                let isBehind = appliedAt.flatMap { entity.changeTime(of: found.record)?.isSurely(before: $0) }
                if isBehind == true { return nil }
                return acknowledged(asRead: found, appliedAt: appliedAt)
            }
            if answered == nil, let silence = try await silence() { return silence }
            guard change.isTried, !change.isContentOnly else { return nil }
            // Whether a created record is only not shown yet is asked when it has settled.
            if change.operation == .update, try await verdict(on: known, wasRead: true) != .gone { return nil }
            return .vanished(record: answered?.record)
        } catch let error as UpstreamError where error != .cancelled {
            guard answered == nil else { return nil }
            switch error {
            case .malformed, .another: return try await silence()
            default: return nil
            }
        }
    }

    /// The outcome of a success that says nothing and does not count: the list is not answered in JSON either, or shows
    /// nothing of what is cached, so something in front of the upstream answers every request so. Nil if the upstream
    /// itself answers. A deletion may leave the list empty, and so may an edit of its only record.
    private func silence() async throws -> PushOutcome? {
        do {
            if try await judge.isShowing(entity, besides: change.key) || change.operation == .delete { return nil }
        } catch let error as UpstreamError where error != .cancelled {
            guard case .malformed = error else { return nil }
            return again(PushFailure(.malformed, error))
        }
        return try await outcome(
            ofBar: 404,
            "the answer said nothing about the change, and the upstream shows no records where the cache has some")
    }

    /// The outcome of a creation whose answer does not surely show the record that was created; nil if it does.
    private func outcome(ofUncertain answer: PushAnswer, showing answered: RemoteRecord?) async throws -> PushOutcome? {
        if case .accepted(let location, _) = answer {
            let outcome = try await search(at: location.flatMap(entity.key(at:)))
            guard location == nil, !outcome.hasRecord else { return outcome }
            return try await silence() ?? outcome
        }
        guard let answered else { return nil }
        if !change.isAnswered(by: answered.record, of: entity, isLater: answered.isLater) {
            let outcome = try await outcome(ofKeyAlone: answered)
            return outcome.hasRecord ? outcome : try await silence() ?? outcome
        }
        if try isAnother(answered, said: answer.record?.record) { return try await outcome(ofKnownRecord: answered) }
        return try await isExchanged(answered) ? outcome(ofExchanged: answered) : nil
    }

    /// The answered record, if a pull would set it aside for its key.
    private func unusable(_ answer: PushAnswer) -> JSONText? {
        guard let record = answer.record?.record, entity.hasUnusableKey(record) else { return .none }
        return record
    }

    /// The upstream accepted the change and answered with a record that cannot be kept. For an edit, that is an
    /// answer without a record. A new record is looked up under another key; else people have to look.
    private func outcome(ofUnusable record: JSONText) async throws -> PushOutcome {
        guard change.operation == .create else { return try await acknowledgement(by: .accepted(location: nil)) }
        let words = "the upstream answered with the key \(entity.shownKey(of: record)), which cannot be used"
        return try await search(
            despite: words, unlisted: "the record under another one", advice: "check what it has made")
    }

    /// `appliedAt`: see `PushOutcome.acknowledged`.
    func acknowledged(asRead found: RemoteRecord, appliedAt: Timestamp? = nil) -> PushOutcome {
        .acknowledged(record: found.record, version: found.version, view: .single, appliedAt: appliedAt)
    }

    /// The answer's change time, if it has what was sent.
    private func changeTime(of answered: RemoteRecord) -> Timestamp? {
        guard change.isSaid(by: answered.record, of: entity) else { return nil }
        return entity.changeTime(of: answered.record)
    }

    // MARK: An answer that was not recognised

    /// Asks for the record or the content, which shows whether the change was applied, or that the record is gone; else the
    /// change is repeated later.
    func outcome(ofUnrecognised failure: PushFailure) async throws -> PushOutcome {
        guard change.operation != .create, try change.isContentOnly || reader.canRead(entity, change.address) else {
            return again(failure)
        }
        do {
            if change.isContentOnly { return try await isStored() ? .acknowledged(record: nil) : again(failure) }
            let found = try await reader.record(of: entity, known: change.address)
            switch (change.operation, found) {
            case (_, nil): return outcome(of: try await verdict(on: change.address, wasRead: true), failure)
            case (.update, let found?) where change.isSaid(by: found.record, of: entity):
                return acknowledged(asRead: found)
            case (.delete, let found?) where entity.isDeleted(found.record): return .acknowledged(record: nil)
            default: return again(failure)
            }
        } catch let error as UpstreamError where error != .cancelled {
            return again(failure)
        }
    }
}

extension PushOutcome {
    /// Whether the upstream has shown the record of the change.
    fileprivate var hasRecord: Bool {
        switch self {
        case .acknowledged(let record, _, _, _): record != nil
        case .found: true
        case .vanished, .gone, .notSent, .waiting, .failed: false
        }
    }
}
