package import EntitySchema
internal import GRDB
package import JSONText

/// The queue as people see and mend it.
extension CacheStore {
    package func pendingCount() throws -> PendingCount {
        try read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT max(iif(name = 'queue', count, 0)), max(iif(name = 'failed', count, 0))
                        FROM sync_tally WHERE name IN ('queue', 'failed')
                        """))
            let queue: Int = row?[0] ?? 0
            let failed: Int = row?[1] ?? 0
            return PendingCount(pending: queue - failed, failed: failed)
        }
    }

    /// The queue, oldest first, as `local-api.md` shows it; `after` is the id that the last page ended with.
    package func pending(after: Int64, limit: Int) throws -> (changes: [JSONText], next: Int64?) {
        try snapshot { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "\(Self.pendingColumns) WHERE outbox.id > ? ORDER BY outbox.id LIMIT ?"),
                arguments: [after, limit + 1])
            let changes = try rows.prefix(limit).map { try pendingChange($0, db) }
            return (changes, rows.count > limit ? rows[limit - 1]["id"] : nil)
        }
    }

    package func pendingChange(_ id: Int64) throws -> JSONText {
        try snapshot { db in
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "\(Self.pendingColumns) WHERE outbox.id = ?"), arguments: [id])
            guard let row else { throw CacheError.notFound("no change \(id) is pending") }
            return try pendingChange(row, db)
        }
    }

    /// Makes one failed or waiting change, or with nil all failed ones, ready again at once; returns how many.
    ///
    /// One of which nobody could tell whether it had arrived is sent as if for the first time: the person has looked.
    package func retry(_ id: Int64?, at now: Timestamp) async throws -> Int {
        try await writer.write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    UPDATE sync_outbox SET state = 'queued', next_attempt_at = NULL, attempt_count = 0,
                      tried = iif(error_class = 'unclear', 0, tried)
                    WHERE state = 'failed' AND ?1 IS NULL OR id = ?1 AND state IN ('failed', 'waiting')
                    RETURNING entity, record_key
                    """,
                arguments: [id])
            if let id, rows.isEmpty { _ = try OutboxTable(schema: schema, db: db).change(id) }
            for row in rows {
                try ChangeLog(db: db, at: now).append(.queued, entity: row["entity"], keys: [row["record_key"]])
            }
            return rows.count
        }
    }

    /// Gives a change up: its record goes back to what the server has, with what is still queued laid over it.
    ///
    /// Throws `.conflict` while it is being sent, and when others depend on it unless `cascade`; those then go with it.
    package func discard(_ id: Int64, cascade: Bool, at now: Timestamp) async throws {
        try await writer.write { db in
            let queue = OutboxTable(schema: schema, db: db)
            let change = try queue.change(id)
            var doomed = [id]
            // The creation takes everything with it that was built on it; an edit takes nothing.
            if change.operation == .create {
                var frontier = doomed
                while !frontier.isEmpty {
                    frontier = try queue.dependents(on: frontier).filter { !doomed.contains($0) }
                    doomed += frontier
                }
            }
            guard cascade || doomed.count == 1 else {
                let names = doomed.dropFirst().map(String.init).joined(separator: ", ")
                throw CacheError.conflict(
                    "the changes \(names) depend on \(id); discard them first, or ask with cascade=true")
            }
            for id in doomed { try discard(queue.change(id), queue, db, now) }
        }
    }

    private func discard(
        _ change: OutboxTable.Entry, _ queue: OutboxTable, _ db: Database, _ now: Timestamp
    ) throws {
        guard change.state != "uploading" else {
            throw CacheError.conflict("change \(change.id) is being sent right now; wait for its outcome")
        }
        try queue.remove(change.id)
        try ChangeLog(db: db, at: now).append(.discarded, entity: change.entity, keys: [change.key])
        guard let entity = schema[change.entity] else { return }
        try RecordRow(table: EntityTable(entity: entity), db: db).layQueue(over: change.key)
    }

    // MARK: One change as JSON

    /// `blocked_by`: the failed or disputed change that this one waits for, however many stand between.
    private static let pendingColumns = """
        WITH RECURSIVE blocked (id, blocked_by) AS (
          SELECT change_id, needs_id FROM sync_dependency JOIN sync_outbox AS stuck ON stuck.id = needs_id
          WHERE stuck.state = 'failed'
            OR EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = stuck.id AND winner IS NULL)
          UNION
          SELECT change_id, blocked_by FROM blocked JOIN sync_dependency ON needs_id = blocked.id)
        SELECT outbox.*, (SELECT min(blocked_by) FROM blocked WHERE blocked.id = outbox.id) AS blocked_by,
          (SELECT min(id) FROM sync_conflict WHERE change_id = outbox.id AND winner IS NULL) AS conflict
        FROM sync_outbox AS outbox
        """

    private func pendingChange(_ row: Row, _ db: Database) throws -> JSONText {
        let entity = schema[row["entity"]]
        let secrets = Set(entity?.fields.filter(\.secret).map(\.name) ?? [])
        let body = try JSONText(parsing: row["body"] as String)
        let shown = body.members.filter { !secrets.contains($0.key) }
        let blockedBy: Int? = row["blocked_by"]
        let conflict: Int? = row["conflict"]
        let change = try outboxRequest(row, body: body, db)
        return .object([
            "id": .integer(row["id"] as Int), "entity": .string(row["entity"] as String),
            "record_id": .string(row["record_key"] as String), "operation": .string(row["operation"] as String),
            "fields": .array(body.members.map { .string($0.key) }), "body": .object(members: shown), "request": change,
            "state": .string(blockedBy == nil && conflict == nil ? row["state"] as String : "blocked"),
            "retry_count": .integer(row["attempt_count"] as Int), "created_at": Self.time(row["created_at"]),
            "last_attempt_at": Self.time(row["last_attempt_at"]),
            "next_attempt_at": Self.time(row["next_attempt_at"]), "error": Self.error(row),
            "blocked_by": .integer(blockedBy), "conflict": .integer(conflict),
        ])
    }

    private func outboxRequest(_ row: Row, body: JSONText, _ db: Database) throws -> JSONText {
        guard let entity = schema[row["entity"]], let operation = Operation(rawValue: row["operation"]) else {
            return .null
        }
        let record = try RecordRow(table: EntityTable(entity: entity), db: db).load(row["record_key"])
        let request = entity.request(for: operation, record: record?.document ?? body, body: body)
        return request.map { .object(["method": .string($0.method), "path": .string($0.path)]) } ?? .null
    }

    private static func error(_ row: Row) -> JSONText {
        guard let message: String = row["error_message"] else { return .null }
        return .object([
            "class": .string(row["error_class"] as String?), "status": .integer(row["error_status"] as Int?),
            "message": .string(message),
        ])
    }

    private static func time(_ milliseconds: Int64?) -> JSONText {
        .string(milliseconds.map { Timestamp(milliseconds: $0).description })
    }
}
