package import EntitySchema
package import JSONText

/// A queued change that is ready to be sent, with everything that sending it needs.
package struct OutboxChange: Sendable, Equatable {
    package var id: Int64
    package var entity: String
    package var key: String
    package var operation: Operation
    /// The fields that change, with secrets in the clear.
    package var body: JSONText
    /// The fields as the queue stores them, with secrets sealed. Shows whether the change is still the one that was
    /// read.
    package var storedBody: JSONText
    /// Changed secret fields that cannot be opened. The change must not be sent without them.
    package var unreadable: [String]
    /// The record's secrets, so that messages can be scrubbed of them.
    package var secrets: [String]
    /// The whole local record without its secrets. In the fields that change it has the values of this change, though a later
    /// one may have others.
    package var record: JSONText
    /// The same, with the values that lead to the record upstream: of an update or a deletion those that the server last
    /// said, since queued changes have not moved it yet.
    package var address: JSONText
    package var idempotencyKey: String
    /// Failed attempts so far that count towards the limit.
    package var attemptCount: Int
    /// Attempts so far that may have reached the upstream.
    package var tried: Int
    /// The server's version that the change was made on; nil when it is not known.
    package var version: String?
    /// It is an edit of a field that pulls do not show, so others may have changed it since the record was read.
    package var isOfUnlisted = false
    package var createdAt: Timestamp
    /// Set when the change is to the record's content and not to its fields, or creates the record with its content.
    package var content: ContentChange?
    /// The record as the server last said it, with secrets in the clear, if the change replaces the whole record.
    package var replaced: JSONText?

    /// Of the last failure; nil before the first.
    package var errorClass: ErrorClass?
    /// What the last failure said.
    package var errorMessage: String?
    /// What its values mean to the server.
    package var meaning: Meaning
    /// When its first attempt under this idempotency key began.
    package var firstAttemptAt: Timestamp?
    /// When its last attempt began.
    package var lastAttemptAt: Timestamp?
    /// The trace of the caller that wrote it last.
    package var trace: TraceContext?

    /// Whether the upstream may have applied an attempt.
    package var isTried: Bool { tried > 0 }
    /// Whether an attempt was made: also if the upstream refused each, or if none could be sent.
    package var wasAttempted: Bool { isTried || errorClass != nil }

    /// Begins the key of a change that went out in a batch without its own key, or under another one.
    static let hiddenKeyMark = "batch/"

    /// Whether the upstream has seen the change's own key at every attempt, and so recognises a repeat by it.
    package var hasShownKey: Bool { !idempotencyKey.hasPrefix(Self.hiddenKeyMark) }

    /// The same change once it has gone out in a batch without its key.
    package var withHiddenKey: OutboxChange {
        var change = self
        change.idempotencyKey = Self.hidden(idempotencyKey)
        return change
    }

    static func hidden(_ key: String) -> String { key.hasPrefix(hiddenKeyMark) ? key : hiddenKeyMark + key }

    /// The key of a change as it was given at first.
    static func original(_ key: String) -> String {
        key.hasPrefix(hiddenKeyMark) ? String(key.dropFirst(hiddenKeyMark.count)) : key
    }

    /// It changes the record's content and none of its fields.
    package var isContentOnly: Bool { content != nil && operation == .update }

    /// Whether a record has all values that were sent, by what they mean.
    package func isSaid(by record: JSONText, of entity: Entity) -> Bool {
        isSaid(by: record, of: entity, body.members.map(\.key))
    }

    /// The same for these fields only. Those that were not sent do not count, nor do those of an edit that the upstream never
    /// shows, beside others. What a creation sent may be rewritten as no earlier answer was.
    package func isSaid(by record: JSONText, of entity: Entity, _ fields: [String]) -> Bool {
        let shown = operation == .update ? fields.filter { entity[field: $0]?.isWriteOnly != true } : fields
        return (shown.isEmpty ? fields : shown).allSatisfy { field in
            guard let sent = body[field] else { return true }
            let value = entity.value(of: field, in: record) ?? .null
            return meaning.isSame(sent, value, of: field) || isFilled(sent, in: value)
                || operation == .create && isRewritten(sent, as: value, in: field)
        }
    }

    /// Whether a value is a text that was sent, as HTML, or the list that was sent, in another order or with its names in objects.
    private func isRewritten(_ sent: JSONText, as value: JSONText, in field: String) -> Bool {
        guard sent.kind == .array else { return meaning.isHTML(value, of: sent, in: field) }
        return value.kind == .array && meaning.newForms(from: sent, to: value, of: field) != nil
    }

    /// Whether a record shows each field that was sent. What it lacks says nothing, least of all that a null has arrived.
    package func isWhollyShown(in record: JSONText, of entity: Entity) -> Bool {
        body.members.allSatisfy { field, _ in
            entity[field: field]?.isWriteOnly != true && entity.value(of: field, in: record) != nil
        }
    }

    /// Whether the server filled in members of what a new record was sent with. An edit may have removed these, so its
    /// values count only as they are.
    private func isFilled(_ sent: JSONText, in value: JSONText) -> Bool {
        operation == .create && sent.isFilled(in: value)
    }

    /// Whether a record has what the server may have made of the value of a field that was sent.
    func isForm(of field: String, in record: JSONText, _ entity: Entity) -> Bool {
        guard let sent = body[field], let value = entity.value(of: field, in: record) else { return false }
        return meaning.newForms(from: sent, to: value, of: field) != nil || isFilled(sent, in: value)
    }

    /// The same for all of these fields.
    package func isFormed(in record: JSONText, of entity: Entity, _ fields: [String]) -> Bool {
        fields.allSatisfy { isForm(of: $0, in: record, entity) }
    }

    /// The fields that were sent, without the key.
    private func sentFields(of entity: Entity) -> [String] { body.members.map(\.key).filter { $0 != entity.key } }

    /// Whether the answer to a creation shows the new record: a value as it was sent, or something in the place of each, which
    /// the server may have made of it. Else its `status` or `message` may be the answer's own. If it comes before the creation
    /// is applied, these may always be the job's.
    package func isAnswered(by record: JSONText, of entity: Entity, isLater: Bool) -> Bool {
        guard isShown(in: record, of: entity) else { return false }
        guard isShownOtherwise(in: record, of: entity) else { return true }
        return !isLater
            && sentFields(of: entity).allSatisfy { name in
                guard let field = entity[field: name], !field.isReference, !field.isWriteOnly else { return true }
                return entity.value(of: name, in: record) != nil || entity.isNothing(body[name] ?? .null, of: name)
            }
    }

    /// Whether an answer shows any of the fields that were sent; true if none was.
    private func isShown(in record: JSONText, of entity: Entity) -> Bool {
        let sent = sentFields(of: entity)
        return sent.isEmpty || sent.contains { entity.value(of: $0, in: record) != nil }
    }

    /// Whether an answer shows fields that were sent, but none with the value that was sent.
    private func isShownOtherwise(in record: JSONText, of entity: Entity) -> Bool {
        let shown = sentFields(of: entity).filter { entity.value(of: $0, in: record) != nil }
        return !shown.isEmpty && !shown.contains { isForm(of: $0, in: record, entity) }
    }

    /// Whether the answer to an edit is only a stub of the record, such as its key and its change time: it shows nothing as it
    /// was sent, and has half of the record's members at most. What the record lacks does not count: in
    /// `{"id": 7, "status": "ok", "message": "Updated"}` the status may be the answer's own, also if another was sent.
    package func isStub(_ answered: JSONText, of entity: Entity) -> Bool {
        operation == .update && (!isShown(in: answered, of: entity) || isShownOtherwise(in: answered, of: entity))
            && answered.members.count { record[$0.key] != nil } * 2 <= record.members.count
    }

    /// Whether a record is the one that the change created, by its values. `isKnown`: the cache had a record with this
    /// key, which may be like it by chance.
    package func isMade(into record: JSONText, of entity: Entity, isKnown: Bool) -> Bool {
        let sent = sentFields(of: entity)
        return isKnown ? isNearly(record, of: entity, sent) : sent.contains { isForm(of: $0, in: record, entity) }
    }

    /// Whether a record is another creation's by its values: it has all that the other sent, and in one of these fields not
    /// what was sent here.
    package func yields(_ record: JSONText, of entity: Entity, to other: OutboxChange) -> Bool {
        let sent = other.sentFields(of: entity)
        return other.isSaid(by: record, of: entity, sent)
            && sent.contains { body[$0] != nil && !isForm(of: $0, in: record, entity) }
    }

    /// Whether a record may be the one that the change created, though it is not as it was sent: in the fields of a
    /// look-up it has what the server may have made of them, or all sent values but one are its own: one of these fields, or
    /// two others that tell records apart.
    package func isNearly(_ record: JSONText, of entity: Entity, _ fields: [String]) -> Bool {
        func isForm(_ field: String) -> Bool { self.isForm(of: field, in: record, entity) }
        if isFormed(in: record, of: entity, fields) { return true }
        // References are the same for many records.
        let sent = body.members.filter { name, value in
            guard name != entity.key, value.kind != .null, let field = entity[field: name] else { return false }
            return !field.isReference
        }
        return sent.count >= 3 && sent.count { !isForm($0.key) } <= 1
            && (fields.contains { entity[field: $0]?.isReference == false && isForm($0) }
                || sent.count { isTold(by: [$0.key], of: entity) && isForm($0.key) } >= 2)
    }

    /// Whether a listed record may be the one that the change created, which a person has to decide: `isNearly`, or texts
    /// that are only alike, times that were moved, values that cannot be read, or lists and objects of which a part is kept.
    package func mayBe(_ record: JSONText, of entity: Entity, _ fields: [String]) -> Bool {
        isNearly(record, of: entity, fields)
            || fields.allSatisfy { field in
                if isForm(of: field, in: record, entity) { return true }
                guard let sent = body[field], let value = entity.value(of: field, in: record) else { return false }
                if sent.kind == .array, value.kind == .array {
                    return sent.elements.isEmpty || value.elements.isEmpty || sent.sharesElement(with: value)
                }
                if sent.kind == .object, value.kind == .object { return sent.sharesMembers(with: value) }
                if let known = entity[field: field],
                    known.isUnreadable(value, like: sent) || known.mayHaveMoved(sent, to: value)
                {
                    return true
                }
                guard let sent = sent.string, let value = value.string else { return false }
                return TextLikeness.mayBecome(sent, value)
            }
    }

    /// About how many bytes of memory it takes.
    package var heldBytes: Int {
        let texts = secrets.reduce(0) { $0 + $1.utf8.count }
        return 2 * storedBody.bytes.count + 2 * record.bytes.count + (replaced?.bytes.count ?? 0) + texts
    }

    /// The request that sends the change; nil when the schema has no route for it.
    package func request(of entity: Entity) -> PushRequest? {
        var request =
            switch content {
            case .removal where isContentOnly: entity.request(for: nil, record: address)
            case .upload(let content) where isContentOnly: entity.request(for: content, record: address)
            default:
                entity.request(
                    for: operation, record: record, body: body, version: version, remote: replaced, address: address)
            }
        if case .upload(let content) = content, !isContentOnly {
            // Without a part for it, the request would leave the content behind.
            guard request?.file != nil else { return nil }
            request?.content = content
        }
        request?.secrets = secrets
        request?.trace = trace
        return request
    }
}

extension JSONText {
    /// Whether an element of this list is in another one. One that is written otherwise there is found among the first alone:
    /// each is compared with each.
    fileprivate func sharesElement(with other: JSONText) -> Bool {
        let (mine, theirs) = (elements, other.elements)
        let known = Set(mine.lazy.map { EquivalenceKey.Digest($0) })
        return theirs.contains { known.contains(EquivalenceKey.Digest($0)) }
            || mine.prefix(20).contains { mine in theirs.prefix(20).contains { mine.mayBeKept(in: $0) } }
    }

    private func mayBeKept(in other: JSONText) -> Bool {
        kind == .object && other.kind == .object ? sharesMembers(with: other) : isKept(in: other)
    }

    /// Whether at least half of what this object has is in another one, whose names may be written otherwise: `firstName`.
    fileprivate func sharesMembers(with other: JSONText) -> Bool {
        func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
        let sent = lastMembers.filter { $0.value.kind != .null }
        let shown = Dictionary(other.lastMembers.map { (letters($0.key), $0.value) }) { one, _ in one }
        let kept = sent.count { name, value in shown[letters(name)].map { value.isKept(in: $0) } ?? false }
        return kept > 0 && kept * 2 >= sent.count
    }
}

/// Changes without content and those with content are sent in separate lanes: pictures are large and slow.
package enum PushLane: Sendable {
    case fields, content

    /// A creation that is sent with its content is in no lane before it has it.
    func sql(_ schema: EntitySchema) -> String {
        guard self == .fields else { return "content IS NOT NULL" }
        let lacking = schema.lacksContentSQL().map { " AND NOT (\($0))" } ?? ""
        return "content IS NULL\(lacking)"
    }
}
