internal import EntitySchema
internal import JSONText

/// A record that the server had deleted, that was to be created again from here, and that is there already: another client
/// was first. What was edited here becomes an edit of it.
struct RevivedRecord {
    let table: EntityTable
    let context: WriteContext

    private var entity: Entity { table.entity }

    /// The edit that a creation has become; nil for any other change. Only a creation that the server has refused because it
    /// has the record: a list alone may be older than the deletion.
    func edit(from change: OutboxTable.Entry) throws -> OutboxTable.Entry? {
        guard change.isThereAlready, change.content == nil,
            let before = try ConflictTable(db: context.db, now: context.now).recreated(by: change.id)
        else { return nil }
        let edited = try edited(by: change, since: before)
        let body = JSONText.object(members: edited)
        guard !edited.isEmpty, entity.canSend(body, by: .update) else { return nil }
        let base = edited.map { ($0.key, entity.value(of: $0.key, in: before) ?? .null) }
        try context.queue.revive(
            change.id, body: body, base: .object(members: base), idempotencyKey: context.makeID())
        try context.log.append(
            .queued, change: change.id, entity: entity.name, key: change.key, fields: edited.map(\.key),
            detail: ChangeWriter(table: table, context: context).detail(of: body, .merged, .update))
        return try context.queue.change(change.id)
    }

    /// The values that differ from those of the record before it was deleted. Fields that move with each edit are sent only
    /// if an edit has set them itself.
    private func edited(
        by change: OutboxTable.Entry, since before: JSONText
    ) throws -> [(key: String, value: JSONText)] {
        let comparison = try context.comparison(entity)
        let moving = entity.touchedFields.map(\.name).filter { change.edited[$0] == nil }
        return change.body.members.filter { name, value in
            guard name != entity.key, name != entity.pull?.changedAt, name != entity.pull?.whenChanged,
                !moving.contains(name), entity.canSend(name, by: .update)
            else { return false }
            return !comparison.isSame(entity.value(of: name, in: before) ?? .null, value, of: name)
        }
    }
}
