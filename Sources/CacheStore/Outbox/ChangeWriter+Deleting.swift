internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Deleting a record.
extension ChangeWriter {
    /// Returns the record's current key and content. Throws when it may not be deleted.
    func requireDeletable(
        _ givenKey: String, _ expected: ExpectedVersion
    ) throws -> (key: String, content: RecordRow.Content) {
        try requireSupport(.delete)
        let key = try KeyAlias.current(of: givenKey, entity.name, in: context.records)
        let (image, document) = try requireRecord(key, named: givenKey)
        try requireVersion(expected, of: key)
        try deleteRules.requireNoDenial(entity, key)
        try requireAddressToDelete(key, document)
        return (key, RecordRow.Content(remote: image.remote, document: document, deleted: false))
    }

    /// Queues the deletion of a record with `content`. A record that was never sent is deleted along with its queued
    /// changes, and nothing is queued.
    func queueDeletion(of key: String, _ content: RecordRow.Content) throws {
        var needs = try deleteRules.dropUnsent(entity, key)
        let waiting = try queue.changes(of: entity.name, key: key)
        if let creation = waiting.first, creation.operation == .create, waiting.allSatisfy(\.isUnknownThere) {
            try requireNoDependents(creation, among: waiting)
            try drop(key, with: waiting)
        } else {
            // Edits that the server does not know need not be sent before the deletion.
            for change in waiting where change.isUnknownThere { try supersede(change) }
            needs.formUnion(try deleteRules.departures(from: entity, key))
            needs.formUnion(try deleteRules.nullify(entity, key))
            let change = newChange(
                .delete, key: key, body: .object([:]), base: content.remote ?? .object([:]), record: content.document)
            let id = try queue.append(change, at: now)
            try queue.depend(id, on: needs)
            try note(change, carriedBy: id)
            try writer.rebuildDocument(over: key)
        }
    }

    /// Deletes a record that the server does not know.
    func drop(_ key: String, with waiting: [OutboxTable.Entry]) throws {
        for change in waiting { try supersede(change) }
        try writer.rebuildDocument(over: key)
        try log.append(.deleted, entity: entity.name, keys: [key])
    }

    func dependents(on creation: OutboxTable.Entry, besides waiting: [OutboxTable.Entry]) throws -> [Int64] {
        try queue.dependents(on: creation).filter { dependent in !waiting.contains { $0.id == dependent } }
    }

    private func requireNoDependents(_ creation: OutboxTable.Entry, among waiting: [OutboxTable.Entry]) throws {
        let dependents = try dependents(on: creation, besides: waiting)
        guard let first = dependents.first else { return }
        throw CacheError.needed(
            by: dependents,
            "the queued change \(first) refers to \(entity.name)/\(creation.key); discard or delete that first")
    }

    private var deleteRules: DeleteRules { DeleteRules(context: context) }
}
