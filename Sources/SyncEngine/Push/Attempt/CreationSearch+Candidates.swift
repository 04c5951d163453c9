internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Whether a listed record is the created one.
extension CreationSearch {
    /// Notes in the reading what one listed record says about the creation.
    func compare(_ record: JSONText, _ reading: inout Reading) async throws {
        reading.isNewer = reading.isNewer || isNewer(record)
        reading.hasNameless = reading.hasNameless || isNameless(record)
        let tells = fields.contains { entity.value(of: $0, in: record) != nil }
        reading.isTelling = reading.isTelling || tells
        guard let near = try await candidate(record) else { return }
        let witness = ContentWitness(environment: environment, upstream: upstream)
        let verdict = try await witness.verdict(on: near.record, for: change, entity, isNeeded: needsContent)
        if verdict == .another { return }
        let isOwn = try verdict == .own && mayBeOwn(near.record)
        let isSaid = change.isSaid(by: near.record, of: entity, fields)
        if isOwn, isSaid, isSure(of: near.record), mayHaveAmong(record, or: near.record) {
            reading.found = near
            return
        }
        if isOwn, isSaid || change.isFormed(in: near.record, of: entity, fields), !isOlder(near.record) {
            reading.unsure = near
        }
        let key = entity.shownKey(of: near.record)
        guard tells else { return reading.hidden = key }
        reading.hasSeveral = reading.hasSeveral || reading.near.map { $0 != key } ?? false
        reading.near = key
    }

    /// A listed record that may be the created one. It is read by its key if the list shows less than was sent.
    private func candidate(_ record: JSONText) async throws -> RemoteRecord? {
        let shown = fields.filter { entity.value(of: $0, in: record) != nil }
        let isPartial = shown.count < fields.count && change.isSaid(by: record, of: entity, shown)
        guard isPartial || change.isSaid(by: record, of: entity, fields) || change.mayBe(record, of: entity, fields),
            let key = record[entity.key]?.plain, !key.isEmpty
        else { return nil }
        // If the record already has its final key, the change itself made that key known.
        guard try key.exact == change.key.exact || !store.wasKnown(key, before: change) else { return nil }
        guard wasDeletedEarlier(record) != true else { return nil }
        guard isPartial, entity.recordPath(of: record) != nil else { return RemoteRecord(record) }
        guard let whole = try await whole(record) else { return RemoteRecord(record) }
        let isOther =
            fields.allSatisfy { change.body[$0] == nil || entity.value(of: $0, in: whole.record) != nil }
            && !change.isSaid(by: whole.record, of: entity, fields)
            && !change.mayBe(whole.record, of: entity, fields)
        return isOther ? nil : whole
    }

    /// The listed record as it is served by its key; nil if it is not.
    private func whole(_ record: JSONText) async throws -> RemoteRecord? {
        do {
            return try await upstream.record(of: entity, known: record)
        } catch let error where error.isUnknownMethod {
            return nil
        }
    }

    /// False if its key is unusable, if it was or may have been deleted before the creation was sent, or if it may have
    /// been there before, where the cache does not look.
    private func mayBeOwn(_ record: JSONText) throws -> Bool {
        try !entity.hasUnusableKey(record) && wasDeletedEarlier(record) == false && !wasUnseenEarlier(record)
    }

    /// Whether only its content tells the record from others with the same values. Of a creation that was accepted, which is
    /// never sent again, the values are enough.
    private var needsContent: Bool {
        guard case .upload = change.content, !change.wasAccepted else { return false }
        return !change.isTold(by: fields, of: entity)
    }

    /// Whether a record with the compared values is the created one. If many records have these values, it must also have all
    /// else that was sent, and no change time from before the attempt.
    private func isSure(of record: JSONText) -> Bool {
        if needsContent || entity.isKey(change.key, of: record) || change.isTold(by: fields, of: entity) {
            return true
        }
        return !isOlder(record) && change.isSaid(by: record, of: entity, beside: named)
    }

    /// Whether a record with the compared values may have the values of `among`, as it is listed or else by itself. One with the
    /// key that was sent needs none of them.
    private func mayHaveAmong(_ listed: JSONText, or whole: JSONText) -> Bool {
        entity.isKey(change.key, of: listed)
            || among.allSatisfy { name, place in
                change.mayHave(name, among: place.value(in: listed) ?? place.value(in: whole), of: entity)
            }
    }

    /// Whether it has no key, and nothing that the creation did not send: some servers list a new record so until it is ready.
    private func isNameless(_ record: JSONText) -> Bool {
        guard (record[entity.key]?.plain ?? "").isEmpty else { return false }
        let shown = fields.filter { entity.value(of: $0, in: record) != nil }
        return change.isSaid(by: record, of: entity, shown) || change.mayBe(record, of: entity, fields)
    }
}
