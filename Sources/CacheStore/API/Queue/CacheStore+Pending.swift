internal import EntitySchema
internal import GRDB
package import JSONText
package import SQLiteStore

/// The queue as users see it.
extension CacheStore {
    /// A page of the queue, and the cursor of the next one.
    package func pending(_ query: PendingQuery) throws -> (changes: [JSONText], next: String?) {
        try snapshot { db in
            let strangers = try strangers(query, db)
            let page = try QueryMistakes.checked(query, parts: query.parts) { (part: PendingQuery) throws(CacheError) in
                try PendingStatement(part, schema: schema, strangers: strangers)
            }
            let statement =
                try page.isFrequent ? db.cachedStatement(sql: page.sql) : db.makeStatement(sql: page.sql)
            let rows = try Row.fetchCursor(statement, arguments: StatementArguments(page.arguments))
            return try PageSize.page(
                of: rows, limit: query.limit, shown: { try pendingChange($0, db) }, place: { page.cursor(after: $0) })
        }
    }

    /// What is wrong with the parts of a query of the queue, each by itself.
    package func mistakes(in query: PendingQuery) throws -> [FieldProblem] {
        try snapshot { db in
            let strangers = try strangers(query, db)
            return QueryMistakes.found(in: query.parts) { (part: PendingQuery) throws(CacheError) in
                try PendingStatement(part, schema: schema, strangers: strangers)
            }
        }
    }

    /// The entities of the queue that the schema no longer has; only if the query asks for changes by entity.
    private func strangers(_ query: PendingQuery, _ db: Database) throws -> [String] {
        guard query.record != nil || query.filters.contains(where: { $0.parameter == "entity" }) else { return [] }
        let entities = try String.fetchAll(
            db.cachedStatement(sql: "SELECT DISTINCT entity FROM sync_outbox ORDER BY entity"))
        return entities.filter { schema[$0] == nil }
    }

    package func pendingChange(_ id: Int64) throws -> JSONText { try snapshot { db in try pendingChange(id, db) } }

    func pendingChange(_ id: Int64, _ db: Database) throws -> JSONText {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "\(PendingStatement.select(schema)) WHERE outbox.id = ?"), arguments: [id])
        guard let row else { throw OutboxTable.notPending(id) }
        return try pendingChange(row, db)
    }

    // MARK: One change as JSON

    private func pendingChange(_ row: Row, _ db: Database) throws -> JSONText {
        let body = try JSONText(parsing: row["body"] as String)
        let shown = sealers[row["entity"]].shown(body)
        let blockedBy: Int? = row["blocked_by"]
        let conflict: Int? = row["conflict"]
        let isFree = blockedBy == nil && conflict == nil && !row["lacks_content"] && schema[row["entity"]] != nil
        let isContentOnly = row["content"] as String? != nil && row["operation"] == Operation.update.rawValue
        let trace = (row["trace"] as String?).flatMap(TraceContext.init(stored:))
        let change: JSONText = .object([
            "id": .integer(row["id"] as Int), "entity": .string(row["entity"] as String),
            "record_id": .string(row["record_key"] as String),
            "operation": .string(isContentOnly ? "content" : row["operation"] as String),
            "fields": .array(body.members.map { .string($0.key) }), "body": shown, "request": try request(row, db),
            "state": .string(isFree ? row["state"] as String : PendingQuery.State.blocked.rawValue),
            "retry_count": .integer(row["attempt_count"] as Int), "created_at": Self.time(row["created_at"]),
            "last_attempt_at": Self.time(row["last_attempt_at"]),
            "next_attempt_at": Self.time(row["next_attempt_at"]), "error": error(row),
            "blocked_by": .integer(blockedBy), "conflict": .integer(conflict),
        ])
        return trace.map { change.setting("traceparent", to: .string($0.traceparent)) } ?? change
    }

    /// The request that the engine would send now, with its secrets masked; null if there is none.
    private func request(_ row: Row, _ db: Database) throws -> JSONText {
        guard let entity = schema[row["entity"]], !row["lacks_content"], var change = try outboxChange(row, db) else {
            return .null
        }
        change.body = sealers[entity.name].mask(in: change.storedBody)
        change.replaced = change.replaced.map(sealers[entity.name].mask)
        guard let request = change.request(of: entity) else { return .null }
        return request.shown(schema.upstream, idempotencyKey: change.idempotencyKey)
    }

    private func error(_ row: Row) -> JSONText {
        if schema[row["entity"]] == nil {
            let entity: String = row["entity"]
            return .object([
                "class": .string(ErrorClass.schema.rawValue), "status": .null,
                "message": .string(
                    "the schema no longer has the entity \(entity); bring it back, or discard this change"),
            ])
        }
        if row["lacks_content"] {
            let (entity, key): (String, String) = (row["entity"], row["record_key"])
            let path = "/v1/\(entity)/\(Entity.percentEncoded(key))/content"
            return .object([
                "class": .string(ErrorClass.content.rawValue), "status": .null,
                "message": .string(
                    "this is sent together with the record's content, which is missing: PUT it to \(path), or discard this "
                        + "change"),
            ])
        }
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
