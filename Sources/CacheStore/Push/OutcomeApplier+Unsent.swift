internal import EntitySchema
internal import JSONText

/// Fields of a new record that its request could not have: the schema that was in force when they were edited sent them.
extension OutcomeApplier {
    /// The acknowledged change with the fields that its request had. A creation may have more: also one that creates a deleted
    /// record again has all of its members.
    ///
    /// What a user set is not lost: it stays queued as an edit of the new record, which fails and can be sent once the schema
    /// has a way again. Call before the record gets its new key.
    func sentPart(of change: OutboxTable.Entry, _ answer: JSONText?, _ table: EntityTable) throws -> OutboxTable.Entry {
        let entity = table.entity
        guard change.operation == .create else { return change }
        let named = entity.sendable(for: .create, record: change.base.setting(change.body)).map(Set.init)
        func canSend(_ field: String) -> Bool { named?.contains(field) ?? !entity.isDerivedHere(field) }
        guard change.body.members.contains(where: { !canSend($0.key) }) else { return change }
        var sent = change
        sent.body = .object(members: change.body.members.filter { canSend($0.key) })
        let comparison = try context.comparison(entity)
        let waiting = try queue.changes(of: change.entity, key: change.key)
        let later = Set(waiting.flatMap { $0.body.members.map(\.key) })
        let unsent = change.body.members.filter { field, value in
            guard change.edited[field] != nil, !canSend(field), !later.contains(field) else { return false }
            // An attempt under the other schema may have arrived.
            guard let shown = answer.flatMap({ entity.value(of: field, in: $0) }) else { return true }
            return !comparison.isSame(shown, value, of: field)
        }
        try ChangeWriter(table: table, context: context).queueUnsent(unsent, of: change)
        return sent
    }
}
