internal import EntitySchema
internal import GRDB
internal import JSONText

/// What later changes do to one that the server has refused.
extension OutboxTable {
    /// Puts the fields of an update into a refused change of its record: into a creation, which may lack one of them, or
    /// into an update that has one of them. That change is then sent again, as one that was never tried. Returns its id;
    /// nil if there is none.
    func correctRefused(_ change: NewChange, _ waiting: [Entry]) throws -> Int64? {
        guard waiting.contains(where: \.isRefused) else { return nil }
        let fields = change.body.members.map(\.key)
        let place = waiting.lastIndex { refused in
            refused.isRefused && !refused.isContentOnly && refused.operation != .delete
                && (refused.operation == .create || fields.contains { refused.body[$0] != nil })
        }
        guard let place else { return nil }
        let refused = waiting[place]
        // A change behind it would set an older value after the new one.
        guard !waiting[(place + 1)...].contains(where: { later in fields.contains { later.body[$0] != nil } }) else {
            return nil
        }
        let body = refused.body.setting(change.body)
        guard change.entity.canSend(sendable(of: refused, change.entity).setting(change.body), by: refused.operation)
        else { return nil }
        var corrected = change
        corrected.operation = refused.operation
        corrected.body = body
        corrected.base = refused.operation == .create ? refused.base : change.base.setting(refused.base)
        corrected.edited = refused.edited.setting(change.edited)
        corrected.sent = refused.sent(replacedBy: change.body)
        let needs = try needs(of: corrected, before: refused.id)
        guard try needs.isDisjoint(with: self.waiting(for: refused.id)) else { return nil }
        try edit(refused.id, to: corrected)
        try depend(refused.id, on: needs)
        return refused.id
    }

    /// Whether the change has a conflict that is not resolved.
    func isDisputed(_ id: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = ? AND winner IS NULL)"),
            arguments: [id]) ?? false
    }

    /// What a request of the refused change sends by now: a creation goes without the fields that the schema no longer sends.
    private func sendable(of refused: Entry, _ entity: Entity) -> JSONText {
        guard refused.operation == .create else { return refused.body }
        return .object(members: refused.body.members.filter { entity.canSend($0.key, by: .create) })
    }
}

extension OutboxTable.Entry {
    /// A creation that was refused because the server has such a record.
    var isThereAlready: Bool { operation == .create && state == .failed && errorClass == .conflict }

    /// How many values of a field are remembered: after so many corrections, the first attempts have long been answered.
    static let mostSent = 20

    /// What attempts may have set on the server until `body` replaces it: the answer to an earlier one may have been
    /// lost. Of each field only the last `mostSent` values.
    func sent(replacedBy body: JSONText) -> JSONText? {
        guard operation == .update, tried else { return sent }
        // Also those that stay as they are: the edited change counts as never tried.
        let attempted = self.body.members.filter { body[$0.key] != nil && self.sent($0.key).last != $0.value }
        return attempted.reduce(sent) { sent, member in
            let values = (self.sent(member.key) + [member.value]).suffix(Self.mostSent)
            return (sent ?? .object([:])).setting(member.key, to: .array(Array(values)))
        }
    }
}
