internal import EntitySchema
internal import GRDB
internal import JSONText

/// Applies the outcome of an attempt to the change and its record, inside the caller's transaction.
struct OutcomeApplier {
    let context: WriteContext

    var db: Database { context.db }
    var now: Timestamp { context.now }
    var queue: OutboxTable { context.queue }
    var log: ChangeLog { context.log }

    /// `takingBack`: see `OutboxTable.postpone`.
    func apply(_ outcome: PushOutcome, to id: Int64, takingBack: Bool) throws {
        // A deletion can leave the queue while it is sent, when a new record gets the key of the deleted one.
        guard let change = try queue.entry(id) else { return }
        switch outcome {
        case .acknowledged(let record, let version, let view, let appliedAt):
            return try acknowledge(
                change,
                Answer(record: record, version: version, view: view, appliedAt: appliedAt, isDirect: true))
        case .found(let record, let version, let view, let failure, let next):
            guard try isTaken(record, from: change) else {
                let deletedAt = try deletion(of: record, from: change)
                return try acknowledge(
                    change, Answer(record: record, version: version, view: view, deletedAt: deletedAt))
            }
            try queue.postpone(id, failure, until: next, counted: false)
            try note(failure, .waiting, of: change, next: next)
        case .vanished(let record): return try acknowledge(change, Answer(record: record, isShown: false))
        case .gone(let failure): return try forget(change, failure)
        case .notSent:
            try queue.takeBack(id)
            try log.append(.queued, change, detail: [ChangeLogReason.notSent.member])
        case .waiting(let failure, let next, let counted):
            try queue.postpone(id, failure, until: next, counted: counted, takingBack: takingBack)
            try forgetKey(of: change, after: failure)
            try note(failure, .waiting, of: change, next: next)
        case .failed(let failure): try fail(change, failure, takingBack)
        }
        try catchUp(change.entity, change.key)
    }

    private func fail(_ change: OutboxTable.Entry, _ failure: PushFailure, _ takingBack: Bool) throws {
        try queue.fail(change.id, failure, takingBack: takingBack)
        try forgetKey(of: change, after: failure)
        let entry = try note(failure, .failed, of: change)
        if let table = context.table(change.entity) {
            let writer = ChangeWriter(table: table, context: context)
            try writer.letDeletionsPass(change.id, of: change.key)
            // It is sent again, so a person has nothing to do.
            if try writer.letCorrectionsPass(change.id, of: change.key) { try log.revise(entry, as: .waiting) }
        }
        try queue.letOthersPass(change.id)
    }

    /// The next attempt needs another key than the one under which the upstream repeats a failure.
    private func forgetKey(of change: OutboxTable.Entry, after failure: PushFailure) throws {
        guard failure.errorClass == .repeated else { return }
        try queue.giveUnknownKey(context.makeID(), to: change.id)
    }

    /// Whether the record came from another change, as when two creations with the same values were looked up at once, or is
    /// one that was deleted here before the creation was made, in a list that is behind.
    private func isTaken(_ record: JSONText, from change: OutboxTable.Entry) throws -> Bool {
        guard change.operation == .create, let table = context.table(change.entity),
            let key = record[table.entity.key]?.plain, key.exact != change.key.exact
        else { return false }
        if let (row, isEarlier) = try deletion(of: key, change), isEarlier,
            let time = table.entity.changeTime(of: record), let changedAt = row.changedAt, time <= changedAt
        {
            return true
        }
        return try AcknowledgedCreations(table: table, db: db).have(key, since: change.id)
    }

    /// Where the log has our deletion of the record that a look-up found, if a pull had brought it under the server's key: a
    /// list that is behind still shows it. A deletion that was made before the creation was that of another record, whose key
    /// the server has given again.
    private func deletion(of record: JSONText, from change: OutboxTable.Entry) throws -> Int64? {
        guard change.operation == .create, let table = context.table(change.entity),
            let key = record[table.entity.key]?.plain, key.exact != change.key.exact,
            let (row, isEarlier) = try deletion(of: key, change), !isEarlier
        else { return nil }
        if let time = table.entity.changeTime(of: record), let changedAt = row.changedAt, time > changedAt {
            return nil
        }
        return row.position
    }

    /// Our acknowledged deletion of a record with this key, and whether it was made before the creation.
    private func deletion(
        of key: String, _ creation: OutboxTable.Entry
    ) throws -> (row: Settling, isEarlier: Bool)? {
        guard let row = try SettlingTable(entity: creation.entity, db: db).row(of: key), row.kind == .deleted else {
            return nil
        }
        let deletion = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT change_id FROM sync_change_log WHERE seq = ?"), arguments: [row.position])
        return (row, deletion.map { $0 < creation.id } ?? false)
    }

    /// Merges the changes of a record with what the server sent while one of them was being sent. Also called for an
    /// attempt that ended with the process.
    func catchUp(_ entity: String, _ key: String) throws {
        guard let table = context.table(entity) else { return }
        if let deletion = try context.row(table).deletion(of: key) {
            try delete(key, table, isInferred: deletion == .inferred)
        } else {
            try merge(table).mergeRemote(of: key)
        }
    }

    /// Returns the number of the log entry.
    @discardableResult
    private func note(
        _ failure: PushFailure, _ kind: ChangeLogKind, of change: OutboxTable.Entry, next: Timestamp? = nil
    ) throws -> Int64 {
        let error = JSONText.object([
            "class": .string(failure.errorClass.rawValue), "status": .integer(failure.status),
            "message": .string(failure.message),
        ])
        return try log.append(
            kind, change, detail: [("error", error), ("next_attempt_at", .string(next?.description))])
    }

    /// The server no longer has the record: the same as if a pull had reported it.
    private func forget(_ change: OutboxTable.Entry, _ failure: PushFailure) throws {
        try queue.requeue(change.id, failure)
        try note(failure, .waiting, of: change)
        if let table = context.table(change.entity) { try delete(change.key, table) }
    }

    /// `ownDeletion`: the position in the log of our change that did it. A page from before must not bring it back.
    func delete(
        _ key: String, _ table: EntityTable, _ ownDeletion: Int64? = nil, isInferred: Bool = false
    ) throws {
        _ = try RecordDeletion(table: table, context: context, ownDeletion: ownDeletion)
            .delete(keys: [key], isInferred: isInferred)
    }

    func merge(_ table: EntityTable) -> Merge { Merge(table: table, context: context) }
}
