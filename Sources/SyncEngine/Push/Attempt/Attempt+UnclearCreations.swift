internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// A creation whose answer may be another record: one that was there before, its parent, or that of another creation.
extension Attempt {
    /// The answer has a key and nothing of what was sent. It may be the new record's, that of an envelope, whose `id`
    /// counts requests, or that of a job: the record with this key shows which, or a look-up does.
    func outcome(ofKeyAlone answered: RemoteRecord) async throws -> PushOutcome {
        let key = answered.record[entity.key]?.plain ?? ""
        if let found = try await readable(answered.record) {
            if let record = try own(found) { return acknowledged(asRead: record) }
            if isLongSince(found.record), change.isMade(into: found.record, of: entity, isKnown: false) {
                return try await search(besides: key)
            }
        } else if try !isAnother(key),
            key.exact == change.key.exact || !hasLookUp || !answered.isLater && !refers(to: key)
        {
            return .acknowledged(record: answered.record, version: answered.version)
        }
        return try await search()
    }

    /// What was read for a creation, if it may be the record that was created; else nil.
    func own(_ found: RemoteRecord) throws -> RemoteRecord? {
        let record = reader.withParent(found, of: entity, like: change.record)
        guard !entity.hasUnusableKey(record.record) else { return nil }
        let isKnown = try isLongSince(record.record) || isAnother(record.record[entity.key]?.plain ?? "")
        return change.isMade(into: record.record, of: entity, isKnown: isKnown) ? record : nil
    }

    /// Whether the key belonged to another record before the creation was sent.
    func isAnother(_ key: String) throws -> Bool {
        try key.exact != change.key.exact && store.wasKnown(key, before: change)
    }

    /// Whether the key is that of a record that the new one refers to. Many upstreams answer a new line with its order;
    /// elsewhere a line and its order can have the same number. If the answer, `said`, has that reference itself, it is
    /// the line: an order does not refer to itself.
    func refers(to key: String, besides said: JSONText? = nil) -> Bool {
        entity.fields.contains { field in
            guard field.isReference, field.name != entity.key else { return false }
            func names(_ record: JSONText) -> Bool {
                entity.value(of: field.name, in: record)?.plain.exact == key.exact
            }
            return names(change.record) && said.map(names) != true
        }
    }

    /// Whether the answer is a record that was there before and has other values: the new record's parent, or one that
    /// was found instead of made. `said`: what the upstream itself answered.
    func isAnother(_ answered: RemoteRecord, said: JSONText?) throws -> Bool {
        guard !change.isMade(into: answered.record, of: entity, isKnown: true) else { return false }
        let key = answered.record[entity.key]?.plain ?? ""
        return try refers(to: key, besides: said) || isLongSince(answered.record) || isAnother(key)
    }

    /// Whether the record was last changed over two days before the creation was sent: it was there before, where the
    /// cache does not look, such as among archived ones. As change times may be days of another zone, less says nothing,
    /// nor does a time that was sent. Some servers give a record that was never changed the time 0.
    private func isLongSince(_ record: JSONText) -> Bool {
        guard !entity.isKey(change.key, of: record), let offset = environment.clockOffset(),
            entity.pull?.changedAt.flatMap({ change.body[$0] }) == nil, let time = entity.changeTime(of: record),
            time > Timestamp(milliseconds: 0) + Self.twoDays
        else { return false }
        return time < (change.firstAttemptAt ?? change.lastAttemptAt ?? now()) + offset - Self.twoDays
    }

    private static let twoDays = Duration.seconds(2 * 86_400)

    /// The answer may have been too short to show that it is the new record; else that one is looked up. Without a
    /// look-up people have to find out whether there is one.
    func outcome(ofKnownRecord answered: RemoteRecord) async throws -> PushOutcome {
        if let found = try await readable(answered.record), let record = try own(found) {
            return acknowledged(asRead: record)
        }
        return try await search(besides: answered.record[entity.key]?.plain ?? "")
    }

    /// The same after an answer with the key of another record.
    private func search(besides key: String) async throws -> PushOutcome {
        let words =
            refers(to: key)
            ? "the upstream answered with the key \(key), which is that of a record that this one refers to"
            : "the upstream answered with \(entity.name)/\(key), which was there before and has other values"
        return try await search(
            despite: words, unlisted: "the new one yet", advice: "check whether it has made a record as well")
    }

    /// Looks the record up after an answer with another one, as `words` say. While it is not listed, they and `unlisted` say
    /// why the change waits; without a look-up people have to follow the `advice`.
    func search(despite words: String, unlisted: String, advice: String) async throws -> PushOutcome {
        guard hasLookUp else {
            return .failed(PushFailure(.unclear, message: "\(words): \(advice), then retry or discard"))
        }
        let outcome = try await search()
        guard case .waiting(var failure, let next, let counted) = outcome else { return outcome }
        failure.message = OutboxChange.acceptedMessage(words, "does not list \(unlisted); looking again later")
        return .waiting(failure, at: next, counted: counted)
    }

    /// Whether the answer is that of another creation under way, as from a gateway that exchanges answers.
    func isExchanged(_ answered: RemoteRecord) async throws -> Bool {
        guard !change.isMade(into: answered.record, of: entity, isKnown: true) else { return false }
        return try await otherCreations().contains { change.yields(answered.record, of: entity, to: $0) }
    }

    /// The other creations under way.
    func otherCreations() async throws -> [OutboxChange] {
        try store.creations(await passage.underWay().subtracting([change.id]), of: entity.name)
    }

    /// Only a look-up, or a repeat under the key, shows which record the creation has made.
    func outcome(ofExchanged answered: RemoteRecord) async throws -> PushOutcome {
        guard hasLookUp || recognizesRepeat else {
            let message =
                "the upstream answered with \(entity.name)/\(entity.shownKey(of: answered.record)), which has the values "
                + "of another creation: check which records it has made, then retry or discard"
            return .failed(PushFailure(.unclear, message: message))
        }
        return try await search()
    }

    /// The record as the upstream shows it now; nil if it does not, or cannot be asked.
    private func readable(_ known: JSONText) async throws -> RemoteRecord? {
        do {
            return try reader.canRead(entity, known) ? try await reader.record(of: entity, known: known) : nil
        } catch let error as UpstreamError where error != .cancelled {
            return nil
        }
    }
}
