internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Retries, corrects and discards queued changes for a user, inside the caller's transaction.
struct OutboxAdmin {
    let context: WriteContext

    private var db: Database { context.db }
    private var queue: OutboxTable { context.queue }
    private var conflicts: ConflictTable { ConflictTable(db: db, now: context.now) }
    private var log: ChangeLog { context.log }

    // MARK: Trying again

    func retry(_ id: Int64?) throws -> Int {
        try queue.renewKeys(ofFailed: id, makeID: context.makeID)
        let retried = try queue.retry(id)
        if let id, retried.isEmpty { _ = try queue.change(id) }
        for id in retried {
            let row = try queue.row(id)
            try log.append(queuedAgain: row, .retried)
            // Fields that follow the queue, and a content's state, no longer show a failure.
            guard let table = context.table(row["entity"]) else { continue }
            try context.writer(table).rebuildDocument(over: row["record_key"])
        }
        return retried.count
    }

    // MARK: Correcting

    /// Sets and removes fields of a change, and makes it ready again. Without a difference the change is retried.
    func correct(_ id: Int64, setting fields: JSONText, removing removed: [String]) throws {
        let change = try queue.change(id)
        try change.requireIdle()
        guard let table = context.table(change.entity) else {
            throw CacheError.conflict("the schema no longer has the entity \(change.entity); discard the change")
        }
        guard change.operation != .create || !change.tried || change.state == .failed else {
            throw CacheError.conflict(
                "change \(id) may have arrived; correct it once it has failed, or change the record")
        }
        let writer = ChangeWriter(table: table, context: context)
        let fields = try writer.withCurrentKeys(fields)
        let correction = QueuedChangeEdit(
            change: change, fields: fields, sealed: try writer.sealer.seal(fields), removed: removed, writer: writer)
        try correction.check()
        guard correction.body != change.body else { return _ = try retry(id) }
        try correction.store()
        try writer.note(
            fields, .corrected, of: change.operation, to: change.key, carriedBy: id, removed: removed)
        for field in removed { try conflicts.decideOpen(of: id, field: field, .server) }
        // The server's current version may decide about it again; this also rebuilds the document.
        try Merge(table: table, context: context).mergeRemote(of: change.key)
    }

    // MARK: Discarding

    func discard(_ id: Int64, cascade: Bool) throws {
        let change = try queue.change(id)
        let dependents = try queue.dependents(on: change)
        guard cascade || dependents.isEmpty else {
            let ids = dependents.map(String.init).joined(separator: ", ")
            let needed =
                dependents.count == 1
                ? "change \(ids) depends on \(id); discard it" : "the changes \(ids) depend on \(id); discard them"
            throw CacheError.needed(by: dependents, "\(needed) first, or discard all with cascade=true (--cascade)")
        }
        // Newest first, so that no change ever refers to one that is gone. One that is being sent undoes the whole call.
        for id in dependents.reversed() {
            guard let dependent = try queue.entry(id) else { continue }
            try discard(dependent)
        }
        try discard(change)
    }

    private func discard(_ change: OutboxTable.Entry) throws {
        try change.requireIdle()
        let isDeletedThere = try conflicts.isDeletionOpen(of: change.id)
        try DeleteRules(context: context).restore(after: change)
        try queue.remove(change.id)
        try log.append(.discarded, change, detail: [ChangeLogReason.asked.member])
        guard let table = context.table(change.entity) else { return }
        let (row, writer) = (context.row(table), context.writer(table))
        try writer.rebuildDocument(over: change.key)
        if try !row.exists(change.key) { try log.append(.deleted, entity: change.entity, keys: [change.key]) }
        // The record was kept for this change only; its other changes now meet the deletion.
        guard isDeletedThere else { return }
        _ = try RecordDeletion(table: table, context: context).delete(keys: [change.key])
    }
}
