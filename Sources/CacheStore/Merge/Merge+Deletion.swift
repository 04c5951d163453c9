internal import EntitySchema
internal import GRDB
internal import JSONText

/// The server has deleted a record with queued changes.
extension Merge {
    /// Merges the queued changes of a record that the server has deleted. Without queued changes, leaves the record to
    /// the caller.
    ///
    /// `isInferred`: the server did not say so, its answers were only without the record. Then a person decides about a
    /// change that failed, whatever the policy: failed changes are kept until someone acts.
    func mergeDeletion(of key: String, isInferred: Bool) throws {
        let changes = try queue.changes(of: entity.name, key: key)
        // A creation makes the record again, even after the server deleted another with its key. Only what is served
        // with a parent goes with that, also if the answer to the creation is still to come or was lost.
        if let creation = changes.first(where: { $0.operation == .create }) {
            try forgetRemote(of: key)
            return try writer.mark(key, creation.tried && entity.pull == nil ? .reported : nil)
        }
        // The outcome of a change that is being sent merges again.
        let isSent = changes.contains { $0.state == .uploading }
        // A deletion that the server has reported stays reported.
        let isReported = try isSent && (!isInferred || row.deletion(of: key) == .reported)
        try writer.mark(key, isReported ? .reported : isSent ? .inferred : nil)
        guard !isSent else { return }
        guard let first = changes.first, let content = try row.load(key) else { return }
        // Both sides deleted it: nothing to decide.
        if changes.contains(where: { $0.operation == .delete }) {
            try apply(.server, ofRecordDeletedThere: key)
            return try noteAgreedDeletion(of: key, content.remote)
        }
        let dispute = Conflict.Dispute(
            change: first, field: nil, base: content.remote, local: content.document, server: nil,
            localAt: changes.map(\.lastEdit).max() ?? first.createdAt, serverAt: nil)
        let asks = isInferred && changes.contains { $0.state == .failed }
        if let winner = try decide(dispute, asks: asks) { try apply(winner, ofRecordDeletedThere: key) }
    }

    /// Notes that both sides have deleted the record: a list that still has it is behind, as after a deletion that the
    /// server has acknowledged.
    ///
    /// `remote`: what the server last said of it.
    private func noteAgreedDeletion(of key: String, _ remote: JSONText?) throws {
        let known = try SettlingTable(entity: entity.name, db: context.db).row(of: key)?.changedAt
        let changedAt = [remote.flatMap(entity.changeTime), known].compactMap(\.self).max()
        let position = try context.records.lastNumbers().entry
        try context.noteDeletion(of: key, entity, at: position, changedAt: changedAt)
    }

    private func forgetRemote(of key: String) throws {
        guard try row.remote(of: key) != nil else { return }
        try writer.setRemote(nil, of: key, at: context.now)
        try writer.rebuildDocument(over: key)
    }

    /// Drops the record and its changes, or makes the changes create it again.
    func apply(_ winner: Conflict.Side, ofRecordDeletedThere key: String) throws {
        let changes = try queue.changes(of: entity.name, key: key)
        let document = try row.load(key)?.document
        let kept = try ContentTable(db: context.db).kept(key, table)
        let content = changes.last { $0.content != nil }?.content
        for change in changes.dropFirst(winner == .local ? 1 : 0) {
            try queue.remove(change.id)
            try noteMerged(change)
        }
        if winner == .local, let first = changes.first, let document {
            try queue.recreate(
                first.id, body: creation(from: document), idempotencyKey: context.makeID())
            if entity.isCreatedWithContent {
                let own = content == ContentTable.nothing ? nil : content ?? kept
                try queue.attach(own, to: queue.change(first.id), idempotencyKey: context.makeID())
            } else if let content {
                _ = try queue.append(ContentWriter.change(content, of: key, table, context.makeID()), at: context.now)
            }
        }
        try writer.setRemote(nil, of: key, at: context.now)
        try writer.rebuildDocument(over: key)
    }

    /// Of a record with so many members, only the fields are sent: each is looked for in the whole answer.
    private static let mostMembers = 1000

    private func creation(from document: JSONText) -> JSONText {
        let body = entity.withoutDerivedFields(document)
        let (members, moved) = (body.members, entity.movedFields(of: body))
        guard members.count > Self.mostMembers else {
            return moved.isEmpty ? body : .object(members: members + moved)
        }
        return .object(members: members.filter { entity[field: $0.key] != nil } + moved)
    }
}
