internal import EntitySchema
internal import JSONText

/// What the deletion of a record does to the records that refer to it.
extension ChangeWriter {
    /// Drops the record's changes that the server does not know, before the record is deleted with its owner. Returns the other
    /// changes.
    func dropUnsent(_ key: String) throws -> [Int64] {
        let waiting = try queue.changes(of: entity.name, key: key)
        let seen = waiting.filter { !$0.isUnknownThere }
        for change in waiting where change.isUnknownThere { try supersede(change) }
        if seen.count < waiting.count { try writer.rebuildDocument(over: key) }
        if try !row.exists(key) { try log.append(.deleted, entity: entity.name, keys: [key]) }
        return seen.map(\.id)
    }

    /// Queues a separate change that sets a reference to null; nil if the schema cannot send one.
    func nullify(_ field: String, of key: String) throws -> Int64? {
        guard let current = try row.load(key) else { return nil }
        let record = current.document.setting(field, to: .null)
        guard let route = entity.route(for: .update, record: record, fields: [field]),
            entity.path(route.path, of: record) != nil
        else { return nil }
        let base = current.remote.flatMap { entity.value(of: field, in: $0) }.map { [(key: field, value: $0)] } ?? []
        let change = newChange(
            .update, key: key, body: .object([field: .null]), base: .object(members: base), record: record)
        let id = try queue.append(change, at: now)
        try note(change, carriedBy: id)
        try writer.rebuildDocument(over: key)
        return id
    }

    /// Removes a field from a change that was never sent.
    func withdraw(_ field: String, from change: OutboxTable.Entry) throws {
        let body = change.body.without(field)
        if body.members.isEmpty {
            try supersede(change)
        } else {
            try queue.store(body, base: change.base.without(field), of: change, makeID: context.makeID)
        }
        try writer.rebuildDocument(over: change.key)
    }
}
