package import EntitySchema
internal import GRDB
internal import JSONText

/// The queue as the engine drives it: what is ready, what is being sent, what came of it.
extension CacheStore {
    /// Changes that may be sent now, oldest first: due, and with nothing before them that they need.
    package func readyChanges(limit: Int, at now: Timestamp) throws -> [OutboxChange] {
        try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM sync_outbox AS change
                        WHERE (state = 'queued' OR state = 'waiting' AND next_attempt_at <= ?1)
                          AND NOT EXISTS (SELECT 1 FROM sync_dependency WHERE change_id = change.id)
                        ORDER BY id LIMIT ?2
                        """),
                arguments: [now.milliseconds, limit])
            return try rows.compactMap { row in try outboxChange(row, db) }
        }
    }

    /// When the next waiting change is due; nil when none waits.
    package func nextAttempt() throws -> Timestamp? {
        try read { db in
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT min(next_attempt_at) FROM sync_outbox WHERE state = 'waiting'"))
        }.map(Timestamp.init(milliseconds:))
    }

    /// Writes the attempt down before it is made. False when the change has left the queue or is being sent already.
    package func begin(_ id: Int64, at now: Timestamp) async throws -> Bool {
        try await writer.write { db in
            let begun = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        UPDATE sync_outbox SET state = 'uploading', tried = tried + 1, last_attempt_at = ?2,
                          next_attempt_at = NULL
                        WHERE id = ?1 AND state IN ('queued', 'waiting') RETURNING entity, record_key
                        """),
                arguments: [id, now.milliseconds])
            guard let begun else { return false }
            try ChangeLog(db: db, at: now).append(.uploading, entity: begun["entity"], keys: [begun["record_key"]])
            return true
        }
    }

    /// Writes down what became of an attempt, with what it does to the record, in one transaction.
    package func settle(_ id: Int64, _ outcome: PushOutcome, at now: Timestamp) async throws {
        try await writer.write { db in
            try Settlement(schema: schema, db: db, now: now).settle(id, outcome)
        }
    }

    /// Makes changes ready again whose sending was cut short by the end of the process; they keep their idempotency keys.
    package func recoverInterrupted() async throws -> Int {
        try await writer.write { db in
            try db.execute(sql: "UPDATE sync_outbox SET state = 'queued' WHERE state = 'uploading'")
            return db.changesCount
        }
    }

    /// Makes waiting changes due at once: the upstream is back.
    package func hastenWaiting(at now: Timestamp) async throws {
        try await writer.write { db in
            try db.execute(
                sql: "UPDATE sync_outbox SET next_attempt_at = ?1 WHERE state = 'waiting' AND next_attempt_at > ?1",
                arguments: [now.milliseconds])
        }
    }

    private func outboxChange(_ row: Row, _ db: Database) throws -> OutboxChange? {
        // A change of an entity that the schema no longer has keeps its place until the schema names it again.
        guard let entity = schema[row["entity"]] else { return nil }
        let body = try JSONText(parsing: row["body"] as String)
        let record = try RecordRow(table: EntityTable(entity: entity), db: db).load(row["record_key"])
        return OutboxChange(
            id: row["id"], entity: entity.name, key: row["record_key"],
            operation: Operation(rawValue: row["operation"]) ?? .update, body: body,
            record: record?.document ?? body, idempotencyKey: row["idempotency_key"],
            attemptCount: row["attempt_count"])
    }
}
