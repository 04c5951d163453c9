internal import EntitySchema
internal import GRDB
internal import JSONText

/// A change that the upstream accepted: it leaves the queue, and the record becomes what the server has now.
extension OutcomeApplier {
    /// What the upstream said of a change that it accepted.
    struct Answer {
        let record: JSONText?
        var version: String?
        var view = RecordView.answer
        /// See `PushOutcome.acknowledged`.
        var appliedAt: Timestamp?
        /// False if the server accepted the change, but then had no such record. The record is read again later.
        var isShown = true
        /// Whether it came from the attempt itself, or was read right after it.
        var isDirect = false
        /// Where the log has the acknowledged deletion of what was created.
        var deletedAt: Int64?
    }

    func acknowledge(_ change: OutboxTable.Entry, _ answer: Answer) throws {
        guard let table = context.table(change.entity) else { return try queue.remove(change.id) }
        guard change.operation != .delete else { return try acknowledge(deletion: change, table) }
        // A record that a pull would set aside: the change keeps the key that it has.
        let record = answer.record.flatMap { table.entity.hasUnusableKey($0) ? .none : $0 }
        try queue.remove(change.id)
        try endDeletion(before: change, record, table)
        let (isGone, isDoubtful) = try presence(after: change, isShown: record != nil, table)
        let sealed = try record.map(context.sealers[change.entity].seal)
        let change = try sentPart(of: change, sealed, table)
        try DriftTable(table: table, db: db, now: now)
            .count(record, sealed: sealed, key: change.key, view: answer.view)
        var twin = try PulledTwin(of: change, sealed, table, context)
        let latest = try sealed.map { try twin?.updated($0) ?? $0 }
        let whole = try latest.flatMap { try twin?.completed($0, answer.view) }
        let known = try context.row(table).remote(of: change.key)
        var result = try Acknowledgement(of: change, table, context)
            .result(whole?.record ?? latest, answer.view, known: known, appliedAt: answer.appliedAt)
        if isDoubtful || !answer.isShown { result.settling.isConfirmed = false }
        twin?.add(whole, to: &result)
        if answer.isDirect { result.ownTime = answer.appliedAt ?? record.flatMap(table.entity.changeTime) }
        let version = result.isCurrent && latest == sealed ? answer.version : nil
        let key = try write(result, version, of: change, twin, table)
        result.settling.key = key
        result.settling.position = try logAcknowledged(change, key, table)
        // A change of content alone has no fields that could be older.
        if !change.isContentOnly { try SettlingTable(entity: change.entity, db: db).save(result.settling) }
        // An edit may have set the mark of deletion: the answer need not repeat it. A look-up may find the tombstone of the
        // record that an attempt created.
        let isMarked = table.entity.isDeleted(result.remote)
        // A record that was created under a deleted parent goes with it, unless the parent has come back.
        let isLost = try isGone && (change.operation != .create || context.row(table).isOrphan(result.remote))
        if isLost || isMarked || answer.deletedAt != nil || record.map(table.entity.isDeleted) ?? false {
            try delete(key, table, isMarked ? result.settling.position : answer.deletedAt)
        }
    }

    /// Whether the record was deleted while the change was sent, and whether it must be read again. An answer that
    /// shows the record cancels a deletion that was only inferred: the answers that lack it may be older.
    private func presence(
        after change: OutboxTable.Entry, isShown: Bool, _ table: EntityTable
    ) throws -> (isGone: Bool, isDoubtful: Bool) {
        guard let deletion = try context.row(table).deletion(of: change.key) else { return (false, false) }
        guard deletion == .inferred, change.operation == .update, isShown else { return (true, false) }
        try context.writer(table).mark(change.key, nil)
        // Its children were deleted with it when it seemed to be gone.
        try context.writer(table).forgetFetched(change.key)
        return (isGone: false, isDoubtful: true)
    }

    /// Writes what the server has now and brings the record's other changes in line with it. Returns the key that the record
    /// has now.
    private func write(
        _ result: Acknowledgement.Result, _ version: String?, of change: OutboxTable.Entry, _ twin: PulledTwin?,
        _ table: EntityTable
    ) throws -> String {
        try context.writer(table).setRemote(result.remote, version: version, of: change.key, at: now)
        try keepContent(of: change, result.remote, table)
        try merge(table).adopt(result.added, of: change.key)
        try rebase(after: change, on: result, table)
        let key = try renamed(change, to: result.newKey, result.remote, table)
        try twin?.rebaseEdits(after: change, on: result.remote, key)
        if result.hasNewMembers { try ViewTable(entity: change.entity, db: db).set(result.members, of: key) }
        try Merge(table: table, context: context, ownTime: result.ownTime).mergeRemote(of: key)
        return key
    }

    private func acknowledge(deletion change: OutboxTable.Entry, _ table: EntityTable) throws {
        let key = change.key
        let known = try context.row(table).remote(of: key)
        let before = try context.settling(of: key, table.entity)
        try queue.remove(change.id)
        try context.writer(table).setRemote(nil, of: key, at: now)
        try merge(table).mergeRemote(of: key)
        let position = try logAcknowledged(change, key, table)
        // The server will not report the deletion of the children.
        if try !context.row(table).exists(key) {
            try RecordDeletion(table: table, context: context, ownDeletion: position).applyDeleteRules(of: [key])
        }
        let changedAt = [known.flatMap(table.entity.changeTime), before?.changedAt].compactMap(\.self).max()
        try context.noteDeletion(of: key, table.entity, at: position, changedAt: changedAt)
    }

    /// Ends the deletion of an earlier record if the server has given its key to the new one. The server must have applied it,
    /// even if no answer said so, and sent again it would delete the new record.
    private func endDeletion(before creation: OutboxTable.Entry, _ record: JSONText?, _ table: EntityTable) throws {
        guard creation.operation == .create, let key = record?[table.entity.key].flatMap(Entity.key),
            key.exact != creation.key.exact
        else { return }
        let changes = try queue.changes(of: creation.entity, key: key)
        guard let deletion = changes.last(where: { $0.operation == .delete && $0.id < creation.id }) else { return }
        for edit in changes where edit.id < deletion.id {
            try queue.remove(edit.id)
            try merge(table).noteMerged(edit)
        }
        try acknowledge(deletion: deletion, table)
    }

    /// Returns the change's position in the log.
    private func logAcknowledged(_ change: OutboxTable.Entry, _ key: String, _ table: EntityTable) throws -> Int64 {
        let position = try log.append(
            .acknowledged, change: change.id, entity: change.entity, key: key, fields: change.body.members.map(\.key),
            detail: [("operation", .string(change.operation.rawValue))])
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _acknowledged = ? WHERE _key = ?")
            .execute(arguments: [position, key])
        return position
    }

    /// Renames the record if the server has given it another key; returns the key that it has now. A list that is behind still
    /// has an edited record under the key from before.
    private func renamed(
        _ change: OutboxTable.Entry, to given: JSONText?, _ remote: JSONText, _ table: EntityTable
    ) throws -> String {
        guard let given, let key = Entity.key(given), key.exact != change.key.exact else { return change.key }
        let position = try KeyAlias.rename(table, from: change.key, to: given, by: change.id, log)
        guard change.operation == .update else { return key }
        let changedAt = table.entity.changeTime(of: remote)
        try context.noteDeletion(of: change.key, table.entity, at: position, changedAt: changedAt)
        return key
    }

    private func keepContent(of change: OutboxTable.Entry, _ remote: JSONText, _ table: EntityTable) throws {
        guard let content = change.content else { return }
        let address = table.entity.contentAddress(
            of: try FarValues(schema: context.schema, db: db).added(to: remote, of: table.entity))
        try context.writer(table).setContent(
            content == ContentTable.nothing ? nil : content, address: address, of: change.key)
    }

    /// Rebases later changes on the values that this change set on the server: they are our own edits. What others have made
    /// of these values since is left to the merge.
    private func rebase(
        after change: OutboxTable.Entry, on result: Acknowledgement.Result, _ table: EntityTable
    ) throws {
        let sent = result.isOvertaken ? change.body : .object([:])
        let remote = result.remote.setting(sent)
        let ours = Set(change.body.members.map(\.key))
        let waiting = try queue.changes(of: change.entity, key: change.key)
        let comparison = try context.comparison(table.entity)
        var own = OwnValues(comparison: comparison)
        own.add(change)
        for later in waiting where later.operation == .update {
            let fields = later.body.members.map(\.key).filter { change.operation == .create || ours.contains($0) }
            // What the server has not shown yet, such as its default in a new record, was not null: it is unknown.
            let kept = later.base.members.filter { !fields.contains($0.key) }
            let base =
                kept
                + fields.compactMap { name in
                    table.entity.value(of: name, in: remote).map { (key: name, value: $0) }
                }
            // What others have added to an object meanwhile was not there to be removed.
            let body = fields.reduce(later.body) { [own] body, name in
                guard let local = later.body[name], let server = table.entity.value(of: name, in: remote),
                    let merged = merge(table).mergedMembers(name, of: later, local, server, own)
                else { return body }
                return body.setting(name, to: merged)
            }
            try queue.store(body, base: .object(members: base), of: later, makeID: context.makeID)
        }
        for later in waiting where later.operation == .delete && !later.base.members.isEmpty {
            // The server may have stored the value in another spelling.
            let isOurs = try merge(table).isOwnChange(later.base, result.remote, isAnswer: true) {
                field, value in
                ours.contains(field) && sent[field].map { comparison.isSame(value, $0, of: field) } ?? true
            }
            if isOurs { try queue.store(later.body, base: result.remote, of: later, makeID: context.makeID) }
        }
    }
}
