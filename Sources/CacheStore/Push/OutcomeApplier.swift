internal import EntitySchema
internal import GRDB
internal import JSONText

/// Applies the outcome of an attempt to the change and its record, inside the caller's transaction.
struct OutcomeApplier {
    let context: WriteContext

    private var db: Database { context.db }
    private var now: Timestamp { context.now }
    var queue: OutboxTable { context.queue }
    private var log: ChangeLog { context.log }

    /// `takingBack`: see `OutboxTable.postpone`.
    func settle(_ id: Int64, _ outcome: PushOutcome, takingBack: Bool) throws {
        let change = try queue.change(id)
        switch outcome {
        case .acknowledged(let record, let version, let view, let sentAt):
            return try acknowledge(change, record, version, view, sentAt: sentAt)
        case .found(let record, let version, let view, let failure, let next):
            guard try isTaken(record, from: change) else {
                return try acknowledge(change, record, version, view, deletedAt: deletion(of: record, from: change))
            }
            try queue.postpone(id, failure, until: next, counted: false)
            try note(failure, .waiting, of: change, next: next)
        case .vanished(let record): return try acknowledge(change, record, nil, .answer, isShown: false)
        case .gone(let failure, let retryAt):
            guard let next = retryAt, try isNew(change) else { return try forget(change, failure) }
            try queue.postpone(id, failure, until: next, counted: false)
            try note(failure, .waiting, of: change, next: next)
        case .notSent:
            try queue.takeBack(id)
            try log.append(.queued, change, detail: [ChangeLogReason.notSent.member])
        case .waiting(let failure, let next, let counted):
            try queue.postpone(id, failure, until: next, counted: counted, takingBack: takingBack)
            try forgetKey(of: change, after: failure)
            try note(failure, .waiting, of: change, next: next)
        case .failed(let failure):
            try queue.fail(id, failure, takingBack: takingBack)
            try forgetKey(of: change, after: failure)
            try note(failure, .failed, of: change)
            if let table = context.table(change.entity) {
                try ChangeWriter(table: table, context: context).letDeletionsPass(id, of: change.key)
            }
        }
        try catchUp(change.entity, change.key)
    }

    /// The next attempt needs another key than the one under which the upstream repeats a failure.
    private func forgetKey(of change: OutboxTable.Entry, after failure: PushFailure) throws {
        guard failure.errorClass == .repeated else { return }
        try queue.giveUnknownKey(context.makeID(), to: change.id)
    }

    /// Whether the record came from another change, as when two creations with the same values were looked up at once.
    private func isTaken(_ record: JSONText, from change: OutboxTable.Entry) throws -> Bool {
        guard change.operation == .create, let table = context.table(change.entity),
            let key = record[table.entity.key]?.plain, key != change.key
        else { return false }
        return try AcknowledgedCreations(table: table, db: db).have(key, since: change.id)
    }

    /// Where the log has our deletion of the record that a look-up found, if a pull had brought it under the server's key: a
    /// list that is behind still shows it.
    private func deletion(of record: JSONText, from change: OutboxTable.Entry) throws -> Int64? {
        guard change.operation == .create, let table = context.table(change.entity),
            let key = record[table.entity.key]?.plain, key != change.key,
            let row = try SettlingTable(entity: change.entity, db: db).row(of: key), row.kind == .deleted
        else { return nil }
        if let time = table.entity.changeTime(of: record), let changedAt = row.changedAt, time > changedAt {
            return nil
        }
        return row.position
    }

    /// Whether the record was created so recently that a server which does not find it may just be behind.
    private func isNew(_ change: OutboxTable.Entry) throws -> Bool {
        try change.operation != .create && context.newKeys(of: change.entity).contains(change.key)
    }

    /// Merges the changes of a record with what the server sent while one of them was being sent. Also called for an
    /// attempt that ended with the process.
    func catchUp(_ entity: String, _ key: String) throws {
        guard let table = context.table(entity) else { return }
        if try context.row(table).isGone(key) {
            try delete(key, table)
        } else {
            try merge(table).mergeRemote(of: key)
        }
    }

    private func note(
        _ failure: PushFailure, _ kind: ChangeLogKind, of change: OutboxTable.Entry, next: Timestamp? = nil
    ) throws {
        let error = JSONText.object([
            "class": .string(failure.errorClass.rawValue), "status": .integer(failure.status),
            "message": .string(failure.message),
        ])
        try log.append(
            kind, change, detail: [("error", error), ("next_attempt_at", .string(next?.description))])
    }

    /// The server no longer has the record: the same as if a pull had reported it.
    private func forget(_ change: OutboxTable.Entry, _ failure: PushFailure) throws {
        try queue.requeue(change.id, failure)
        try note(failure, .waiting, of: change)
        if let table = context.table(change.entity) { try delete(change.key, table) }
    }

    /// `ownDeletion`: the position in the log of our change that did it. A page from before must not bring it back.
    private func delete(_ key: String, _ table: EntityTable, _ ownDeletion: Int64? = nil) throws {
        _ = try PageApplier(table: table, context: context, ownDeletion: ownDeletion).delete(keys: [key])
    }

    /// `isShown`: false if the server accepted the change and then had no such record. `deletedAt`: where the log has the
    /// acknowledged deletion of what was created.
    private func acknowledge(
        _ change: OutboxTable.Entry, _ record: JSONText?, _ version: String?, _ view: RecordView,
        sentAt: Timestamp? = nil, isShown: Bool = true, deletedAt: Int64? = nil
    ) throws {
        guard let table = context.table(change.entity) else { return try queue.remove(change.id) }
        guard change.operation != .delete else { return try acknowledge(deletion: change, table) }
        // A record that a pull would set aside: the change keeps the key that it has.
        let record = record.flatMap { table.entity.hasUnusableKey($0) ? .none : $0 }
        try queue.remove(change.id)
        let isGone = try isShown ? context.row(table).isGone(change.key) : change.operation != .create
        let answer = try record.map(context.sealers[change.entity].seal)
        let change = try sentPart(of: change, answer, table)
        try DriftTable(table: table, db: db, now: now)
            .count(record, sealed: answer, key: change.key, view: view)
        var twin = try PulledTwin(of: change, answer, table, context)
        let sealed = try answer.map { try twin?.updated($0) ?? $0 }
        let known = try context.row(table).remote(of: change.key)
        let acknowledgement = Acknowledgement(table: table, context: context, change: change)
        var result = try acknowledgement.result(sealed, view, known: known, sentAt: sentAt)
        if !isShown { result.settling.isConfirmed = false }
        twin?.add(to: &result.settling)
        try context.writer(table).setRemote(
            result.remote, version: result.isCurrent && sealed == answer ? version : nil, of: change.key, at: now)
        try keepContent(of: change, result.remote, table)
        try merge(table).adopt(result.added, of: change.key)
        try rebase(after: change, on: result, table.entity)
        let key = try renamed(change, to: result.newKey, table)
        try twin?.rebaseEdits(after: change, on: result.remote, key)
        if result.hasNewMembers { try ViewTable(entity: change.entity, db: db).set(result.members, of: key) }
        try merge(table).mergeRemote(of: key)
        result.settling.key = key
        result.settling.position = try logAcknowledged(change, key, table)
        // A change of content alone has no fields that could be older.
        if !change.isContentOnly { try SettlingTable(entity: change.entity, db: db).save(result.settling) }
        // An edit may have set the mark of deletion: the answer need not repeat it. A look-up may find the tombstone of the
        // record that an attempt created.
        let isMarked = table.entity.isDeleted(result.remote)
        // A record that was created under a deleted parent goes with it, unless the parent has come back.
        let isLost = try isGone && (change.operation != .create || context.row(table).isOrphan(result.remote))
        if isLost || isMarked || deletedAt != nil || record.map(table.entity.isDeleted) ?? false {
            try delete(key, table, isMarked ? result.settling.position : deletedAt)
        }
    }

    private func acknowledge(deletion change: OutboxTable.Entry, _ table: EntityTable) throws {
        let key = change.key
        let known = try context.row(table).remote(of: key)
        let before = try Acknowledgement(table: table, context: context, change: change).settling()
        try queue.remove(change.id)
        try context.writer(table).setRemote(nil, of: key, at: now)
        try merge(table).mergeRemote(of: key)
        let position = try logAcknowledged(change, key, table)
        // The server will not report the deletion of the children.
        if try !context.row(table).exists(key) {
            try PageApplier(table: table, context: context, ownDeletion: position).applyDeleteRules(of: [key])
        }
        let changedAt = [known.flatMap(table.entity.changeTime), before?.changedAt].compactMap(\.self).max()
        try SettlingTable(entity: change.entity, db: db).save(
            Settling(
                key: key, kind: .deleted, at: now, position: position, changedAt: changedAt, isConfirmed: true))
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

    /// Renames the record if the server has given it another key; returns the key that it has now.
    private func renamed(_ change: OutboxTable.Entry, to given: JSONText?, _ table: EntityTable) throws -> String {
        guard let given, let key = Entity.key(given), key != change.key else { return change.key }
        try KeyAlias.rename(table, from: change.key, to: given, context.records)
        try log.append(
            .renamed, change: change.id, entity: change.entity, key: key,
            detail: [("old_id", .string(change.key))])
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
        after change: OutboxTable.Entry, on result: Acknowledgement.Result, _ entity: Entity
    ) throws {
        let sent = result.isOvertaken ? change.body : .object([:])
        let remote = result.remote.setting(sent)
        let ours = Set(change.body.members.map(\.key))
        for later in try queue.changes(of: change.entity, key: change.key) where later.operation == .update {
            let fields = later.body.members.map(\.key).filter { change.operation == .create || ours.contains($0) }
            // What the server has not shown yet, such as its default in a new record, was not null: it is unknown.
            let kept = later.base.members.filter { !fields.contains($0.key) }
            let base =
                kept
                + fields.compactMap { name in
                    entity.value(of: name, in: remote).map { (key: name, value: $0) }
                }
            try queue.store(later.body, base: .object(members: base), of: later, makeID: context.makeID)
        }
        guard let table = context.table(change.entity) else { return }
        let comparison = try context.comparison(entity)
        for later in try queue.changes(of: change.entity, key: change.key)
        where later.operation == .delete && !later.base.members.isEmpty {
            // The server may have stored the value in another spelling.
            let isOurs = try merge(table).isOwnChange(later.base, result.remote, isAnswer: true) {
                field, value in
                ours.contains(field) && sent[field].map { comparison.isSame(value, $0, of: field) } ?? true
            }
            if isOurs { try queue.store(later.body, base: result.remote, of: later, makeID: context.makeID) }
        }
    }

    // MARK: Parts

    private func merge(_ table: EntityTable) -> Merge {
        Merge(table: table, context: context)
    }
}
