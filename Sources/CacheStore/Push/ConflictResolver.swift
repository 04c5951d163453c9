internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Decides and undoes conflicts for a user, inside the caller's transaction.
struct ConflictResolver {
    let context: WriteContext

    private var conflicts: ConflictTable { ConflictTable(db: context.db, now: context.now) }

    // MARK: Choosing

    func resolve(_ id: Int64, for winner: Conflict.Side) throws {
        let conflict = try conflicts.entry(id)
        guard !conflict.isUndone else {
            throw CacheError.conflict("conflict \(id) is undone; to choose another value again, change the record")
        }
        guard conflict.winner == nil else {
            throw CacheError.conflict("conflict \(id) is already decided; undo it to choose the other side")
        }
        let table = try table(conflict)
        let change = try context.queue.change(conflict.changeID)
        try change.requireIdle()
        try noteLaterEdit(conflict, change, table)
        let merge = Merge(table: table, context: context)
        // Decided first: a change that leaves the queue closes its open conflicts.
        try conflicts.decide(id, winner)
        if let field = conflict.field {
            try merge.apply(winner, of: field, in: change)
        } else if conflict.operation == .delete {
            try merge.apply(winner, ofDeletion: change)
        } else {
            try merge.apply(winner, ofRecordDeletedThere: conflict.key)
        }
        try note(conflict, .resolved)
        if try !context.row(table).exists(conflict.key) {
            try context.log.append(.deleted, entity: conflict.entity, keys: [conflict.key])
        }
    }

    /// An edit that was made while the conflict waited is the local side by now: an undo must bring that back.
    private func noteLaterEdit(
        _ conflict: ConflictTable.Entry, _ change: OutboxTable.Entry, _ table: EntityTable
    ) throws {
        guard conflict.operation != .delete else { return }
        if let field = conflict.field {
            guard let local = change.body[field] else { return }
            try conflicts.setLocal(local, at: change.editedAt(field), of: conflict.id)
        } else if let local = try context.row(table).load(conflict.key)?.document {
            let changes = try context.queue.changes(of: conflict.entity, key: conflict.key)
            try conflicts.setLocal(local, at: changes.map(\.lastEdit).max() ?? change.lastEdit, of: conflict.id)
        }
    }

    private func note(_ conflict: ConflictTable.Entry, _ reason: ChangeLogReason) throws {
        try context.log.append(
            .conflict, change: conflict.changeID, entity: conflict.entity, key: conflict.key,
            fields: conflict.field.map { [$0] }, detail: [reason.member, ("conflict", .integer(Int(conflict.id)))])
    }

    // MARK: Undoing

    func undo(_ id: Int64) throws {
        let conflict = try conflicts.entry(id)
        guard let winner = conflict.winner else {
            throw CacheError.conflict("conflict \(id) is not decided yet; resolve it")
        }
        guard !conflict.isUndone else {
            throw CacheError.conflict(
                "conflict \(id) is already undone; to choose another value again, change the record")
        }
        let writer = ChangeWriter(table: try table(conflict), context: context)
        switch (conflict.field, conflict.operation, winner) {
        case (let field?, _, _):
            let value = (winner == .server ? conflict.local : conflict.server) ?? .null
            try writer.update(conflict.key, body: opened(.object(members: [(key: field, value: value)]), conflict))
        case (nil, .delete, .server), (nil, .create, .local), (nil, .update, .local):
            try DeletionWriter(writer).delete(conflict.key)
        case (nil, .delete, .local): try recreate(conflict.server.map { try opened($0, conflict) }, writer)
        case (nil, .create, .server), (nil, .update, .server):
            try recreate(conflict.local.map { try opened($0, conflict) }, writer)
        }
        try conflicts.markUndone(id)
        try note(conflict, .undone)
    }

    /// Opens the secrets, which the writer seals again. Throws `.conflict` for a secret that cannot be opened.
    private func opened(_ record: JSONText, _ conflict: ConflictTable.Entry) throws -> JSONText {
        try context.sealers[conflict.entity].opened(record)
    }

    /// Creates the record again from the fields that a creation can send, under another key if callers may not give it this one.
    private func recreate(_ document: JSONText?, _ writer: ChangeWriter) throws {
        let entity = writer.table.entity
        let document = document ?? .object([:])
        let members = (document.members + entity.movedFields(of: document)).filter { name, value in
            if name == entity.key, let form = entity.keyForm, !form.accepts(value.plain) { return false }
            return entity[field: name] != nil && value.kind != .null && entity.canSend(name, by: .create)
        }
        _ = try writer.create(.object(members: members))
    }

    private func table(_ conflict: ConflictTable.Entry) throws -> EntityTable {
        guard let table = context.table(conflict.entity) else {
            throw CacheError.notFound("the schema no longer has the entity \(conflict.entity)")
        }
        return table
    }
}
