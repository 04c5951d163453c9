internal import EntitySchema
internal import GRDB
internal import JSONText

/// What the outcome of an attempt does to the change and its record, inside the caller's transaction.
struct Settlement {
    let schema: EntitySchema
    let db: Database
    let now: Timestamp

    private var queue: OutboxTable { OutboxTable(schema: schema, db: db) }

    func settle(_ id: Int64, _ outcome: PushOutcome) throws {
        let change = try queue.change(id)
        switch outcome {
        case .acknowledged(let record): try acknowledge(change, record)
        case .notSent:
            try db.cachedStatement(
                sql: "UPDATE sync_outbox SET state = 'queued', tried = max(tried - 1, 0) WHERE id = ?"
            ).execute(arguments: [id])
        case .waiting(let failure, let next, let counted):
            try db.cachedStatement(
                sql: """
                    UPDATE sync_outbox SET state = 'waiting', next_attempt_at = ?, attempt_count = attempt_count + ?,
                      error_class = ?, error_status = ?, error_message = ? WHERE id = ?
                    """
            ).execute(arguments: [
                next.milliseconds, counted ? 1 : 0, failure.kind, failure.status, failure.message, id,
            ])
            try log(.waiting, change)
        case .failed(let failure):
            try db.cachedStatement(
                sql: """
                    UPDATE sync_outbox SET state = 'failed', next_attempt_at = NULL, attempt_count = attempt_count + 1,
                      error_class = ?, error_status = ?, error_message = ? WHERE id = ?
                    """
            ).execute(arguments: [failure.kind, failure.status, failure.message, id])
            try log(.failed, change)
        }
    }

    private func acknowledge(_ change: OutboxTable.Entry, _ record: JSONText?) throws {
        try queue.remove(change.id)
        guard let entity = schema[change.entity] else { return }
        let table = EntityTable(entity: entity)
        let row = RecordRow(table: table, db: db)
        var key = change.key
        switch change.operation {
        case .delete: try row.setRemote(nil, of: key, at: now)
        case .create, .update:
            // Where the upstream answers no record, it has what was sent.
            try DriftTable(table: table, db: db, now: now).count(record, key: key)
            let remote = try record ?? row.load(key)?.remote?.setting(change.body) ?? change.body
            try row.setRemote(remote, of: key, at: now)
            if let given = remote[entity.key]?.plain, given != key, !given.isEmpty, change.operation == .create {
                try Alias.rename(table, from: key, to: given, schema: schema, db)
                key = given
            }
        }
        try row.layQueue(over: key)
        let position = try ChangeLog(db: db, at: now).append(.acknowledged, entity: change.entity, keys: [key])
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _acknowledged = ? WHERE _key = ?")
            .execute(arguments: [position, key])
    }

    private func log(_ kind: ChangeLogKind, _ change: OutboxTable.Entry) throws {
        try ChangeLog(db: db, at: now).append(kind, entity: change.entity, keys: [change.key])
    }
}
