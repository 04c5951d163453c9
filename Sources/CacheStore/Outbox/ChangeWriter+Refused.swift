internal import EntitySchema
internal import JSONText

/// What becomes of changes that the server has refused, and of those that wait for them.
extension ChangeWriter {
    /// Drops the change `id` of the record if it was refused and only a deletion would wait for it: that of the record, or of
    /// one that it is deleted with. Called when a change has failed.
    func letDeletionsPass(_ id: Int64, of key: String) throws {
        guard let change = try queue.entry(id), change.isRefused, try row.isDeleted(key) else { return }
        let waiting = try queue.changes(of: entity.name, key: key)
        if waiting.last?.operation != .delete {
            // Hidden with its owner.
            _ = try dropUnsent(key)
        } else if let creation = waiting.first, creation.operation == .create, waiting.allSatisfy(\.isUnknownThere) {
            if try dependents(on: creation, besides: waiting).isEmpty { try drop(key, with: waiting) }
        } else {
            for change in waiting where change.isRefused && change.operation == .update { try supersede(change) }
            try writer.rebuildDocument(over: key)
        }
    }

    /// Merges the edits that wait behind the change `id` into it if it was refused, as if they had been made after the
    /// refusal: a good value must not wait behind a refused one. Called when a change has failed. Returns whether it is
    /// sent again. If the record seems to have been deleted, that is left to people.
    func letCorrectionsPass(_ id: Int64, of key: String) throws -> Bool {
        let waiting = try queue.changes(of: entity.name, key: key)
        guard waiting.contains(where: { $0.id == id && $0.isRefused }), waiting.last?.operation != .delete,
            try row.deletion(of: key) == nil, let record = try writer.image(of: key)?.shown
        else { return false }
        var carriers: Set<Int64> = []
        for edit in waiting where edit.id > id && edit.operation == .update && !edit.isContentOnly {
            // Merging a later edit would send it before this one.
            guard edit.state == .queued, !edit.tried, try !queue.isDisputed(edit.id) else { break }
            var correction = newChange(.update, key: key, body: edit.body, base: edit.base, record: record)
            correction.edited = edit.edited
            var current = try queue.changes(of: entity.name, key: key)
            try setUnsendableAside(in: &current, before: correction)
            guard let carrier = try queue.correctRefused(correction, current.filter({ $0.id < edit.id })) else { break }
            carriers.insert(carrier)
            try queue.remove(edit.id)
            try log.append(
                .discarded, edit,
                detail: [ChangeLogReason.corrected.member, (ChangeLog.carrier, .integer(Int(carrier)))])
            try note(edit.body, .corrected, of: .update, to: key, carriedBy: carrier)
        }
        if !carriers.isEmpty { try writer.rebuildDocument(over: key) }
        return carriers.contains(id)
    }

    /// Removes the fields that the schema no longer sends from a refused edit, so that the next edit can correct it
    /// instead of waiting behind it. They stay queued as an edit of their own, except those that a later edit sets.
    func setUnsendableAside(in waiting: inout [OutboxTable.Entry], before correction: OutboxTable.NewChange) throws {
        let refused = waiting.last { change in
            change.isRefused && !change.isContentOnly && change.operation == .update
                && correction.body.members.contains { change.body[$0.key] != nil }
        }
        guard let refused else { return }
        let sent = refused.body.members.filter { entity.canSend($0.key, by: .update) }
        guard sent.count < refused.body.members.count else { return }
        let later = Set(waiting.filter { $0.id > refused.id }.flatMap { $0.body.members.map(\.key) })
        let unsent = refused.body.members.filter { !entity.canSend($0.key, by: .update) && !later.contains($0.key) }
        let base = refused.base.members.filter { entity.canSend($0.key, by: .update) }
        try queue.store(.object(members: sent), base: .object(members: base), of: refused, makeID: context.makeID)
        try queueUnsent(unsent, of: refused, base: refused.base)
        waiting = try queue.changes(of: entity.name, key: refused.key)
    }

    /// Queues what a change could not send as an edit, which fails until the schema has a way again.
    func queueUnsent(
        _ fields: [(key: String, value: JSONText)], of change: OutboxTable.Entry, base: JSONText = .object([:])
    ) throws {
        guard !fields.isEmpty else { return }
        let body = JSONText.object(members: fields)
        let edit = OutboxTable.NewChange(
            table: table, key: change.key, operation: .update, body: body,
            base: .object(members: base.members.filter { body[$0.key] != nil }),
            edited: .object(members: change.edited.members.filter { body[$0.key] != nil }),
            idempotencyKey: context.makeID())
        let id = try queue.append(edit, at: now)
        try note(body, .merged, of: .update, to: change.key, carriedBy: id)
    }
}
