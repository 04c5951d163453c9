internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// What people do about queued changes, inside the caller's transaction.
struct OutboxAdmin {
    let context: WriteContext

    private var db: Database { context.db }
    private var queue: OutboxTable { context.queue }
    private var conflicts: ConflictTable { ConflictTable(db: db, now: context.now) }
    private var log: ChangeLog { context.log }

    // MARK: Trying again

    func retry(_ id: Int64?) throws -> Int {
        let rows = try queue.retry(id)
        if let id, rows.isEmpty { _ = try queue.change(id) }
        for row in rows {
            try log.append(.queued, row, detail: [ChangeLogReason.retried.member])
            // What follows the queue, a content too, is no longer given up.
            guard let table = context.table(row["entity"]) else { continue }
            try context.row(table).rebuildDocument(over: row["record_key"])
        }
        return rows.count
    }

    // MARK: Correcting

    /// Sets and takes away fields of a change, and makes it ready again. Without anything to correct it is tried again.
    func correct(_ id: Int64, setting fields: JSONText, removing removed: [String]) throws {
        let change = try requireIdle(queue.change(id))
        guard let table = context.table(change.entity) else {
            throw CacheError.conflict("the schema has no entity \(change.entity) any more; discard the change")
        }
        guard change.operation != .create || !change.tried || change.state == .failed else {
            throw CacheError.conflict(
                "change \(id) may have arrived; it can be corrected when it has failed, or the record when it has not")
        }
        let writer = ChangeWriter(table: table, context: context)
        let fields = try writer.withCurrentKeys(fields)
        let correction = QueuedChangeEdit(
            change: change, fields: fields, sealed: try writer.sealer.seal(fields), removed: removed, writer: writer,
            queue: queue)
        try correction.check()
        guard correction.body != change.body else { return _ = try retry(id) }
        try correction.store()
        try writer.note(
            fields, .corrected, of: change.operation, to: change.key, carriedBy: id, removed: removed)
        for field in removed { try conflicts.decideOpen(of: id, field: field, .server) }
        // What the server has by now may decide about it anew; this also lays the record anew.
        try Merge(table: table, context: context).mergeRemote(of: change.key)
    }

    // MARK: Giving up

    func discard(_ id: Int64, cascade: Bool) throws {
        let change = try queue.change(id)
        let dependents = try queue.dependents(on: change)
        guard cascade || dependents.isEmpty else {
            let ids = dependents.map(\.id)
            throw CacheError.needed(
                by: ids,
                "the changes \(ids.map(String.init).joined(separator: ", ")) depend on \(id); discard them first, or ask "
                    + "with cascade=true")
        }
        // The youngest first, so that nothing ever refers to what is gone.
        for change in (try [change] + dependents.map(requireIdle)).reversed() { try discard(requireIdle(change)) }
    }

    private func discard(_ change: OutboxTable.Entry) throws {
        let isDeletedThere = try conflicts.isDeletionOpen(of: change.id)
        try DeleteRules(context: context).restore(after: change)
        try queue.remove(change.id)
        try log.append(.discarded, change, detail: [ChangeLogReason.asked.member])
        guard let table = context.table(change.entity) else { return }
        let row = context.row(table)
        try row.rebuildDocument(over: change.key)
        if try !row.exists(change.key) { try log.append(.deleted, entity: change.entity, keys: [change.key]) }
        // Kept for this change alone; what else changes the record now meets the deletion.
        guard isDeletedThere else { return }
        _ = try PageApplier(table: table, context: context).delete(keys: [change.key])
    }

    private func requireIdle(_ change: OutboxTable.Entry) throws -> OutboxTable.Entry {
        guard change.state != .uploading else {
            throw CacheError.conflict("change \(change.id) is being sent right now; wait for its outcome")
        }
        return change
    }
}
