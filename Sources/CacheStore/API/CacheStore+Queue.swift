package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// The queue as the engine drives it: what is ready, what is being sent, and the outcomes.
extension CacheStore {
    /// A change without a dependency in the queue and without an open conflict.
    private static let freeSQL = """
        NOT EXISTS (SELECT 1 FROM sync_dependency WHERE change_id = change.id)
          AND NOT EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = change.id AND winner IS NULL)
        """

    /// Changes that may be sent at ?1: the first ?2 of those that are new, and of those whose time has come. Each kind has
    /// an index of its own, so that neither failed changes nor those that wait longer are read.
    static func readySQL(_ condition: String) -> String {
        """
        SELECT * FROM (
          SELECT id, entity FROM sync_outbox AS change WHERE state = \(OutboxState.queued.sql) AND \(freeSQL)
            AND \(condition) ORDER BY id LIMIT ?2)
        UNION ALL
        SELECT * FROM (
          SELECT id, entity FROM sync_outbox AS change WHERE state = \(OutboxState.waiting.sql) AND next_attempt_at <= ?1
            AND \(freeSQL) AND \(condition) ORDER BY next_attempt_at, id LIMIT ?2)
        """
    }

    /// Changes that may be sent now, oldest first: due and without dependencies. `untried` leaves out changes that were
    /// tried, or sent and refused; `others` are about to be sent already. Changes beyond `bytes` of memory come another time,
    /// all but the first.
    package func readyChanges(
        limit: Int, atMost bytes: Int = .max, at now: Timestamp, untried: Bool = false, in lane: PushLane = .fields,
        notOf others: Set<Int64> = []
    ) throws -> [OutboxChange] {
        try read { db in
            let condition = untried ? "\(lane.sql(schema)) AND \(Self.untriedSQL)" : lane.sql(schema)
            func ready(_ condition: String) throws -> [Row] {
                try Row.fetchAll(
                    db.cachedStatement(sql: Self.readySQL(condition)),
                    arguments: [now.milliseconds, limit + others.count])
            }
            let wanted = try sendable(condition, ready).filter { !others.contains($0["id"]) }
                .sorted { ($0["id"] as Int64) < $1["id"] }.prefix(limit)
            return try changes(wanted.map { $0["id"] }, atMost: bytes, db)
        }
    }

    private func changes(_ ids: [Int64], atMost bytes: Int, _ db: Database) throws -> [OutboxChange] {
        var found: [OutboxChange] = []
        var held = 0
        for id in ids {
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM sync_outbox WHERE id = ?"), arguments: [id])
            guard let change = try row.flatMap({ row in try outboxChange(row, db) }) else { continue }
            held += change.heldBytes
            guard found.isEmpty || held <= bytes else { break }
            found.append(change)
        }
        return found
    }

    /// The opposite of `OutboxChange.wasSent`: a change that is neither would wait for ever once retries are rationed.
    private static let untriedSQL = "tried = 0 AND error_class IS NULL AND state = \(OutboxState.queued.sql)"

    /// The id of the newest change in the queue, in any state; 0 when there is none.
    package func newestChange() throws -> Int64 {
        try read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM sync_outbox")) ?? 0
        }
    }

    /// One change as it is now, due or not; nil when it may no longer be sent.
    package func sendableChange(_ id: Int64) throws -> OutboxChange? {
        try read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM sync_outbox AS change
                        WHERE id = ? AND state IN (\(OutboxState.queued.sql), \(OutboxState.waiting.sql)) AND \(Self.freeSQL)
                        """),
                arguments: [id])
            return try row.flatMap { row in try outboxChange(row, db) }
        }
    }

    /// Those of these changes that create a record of the entity.
    package func creations(_ ids: Set<Int64>, of entity: String) throws -> [OutboxChange] {
        try read { db in
            try ids.sorted().compactMap { id -> OutboxChange? in
                let row = try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT * FROM sync_outbox WHERE id = ? AND entity = ? AND operation = 'create'"),
                    arguments: [id, entity])
                return try row.flatMap { row in try outboxChange(row, db) }
            }
        }
    }

    /// What the server had in the fields of a change when it was made or last merged, with secrets opened; nil when the
    /// change has ended.
    package func base(of change: OutboxChange) throws -> JSONText? {
        try read { db in
            let base = try String.fetchOne(
                db.cachedStatement(sql: "SELECT base FROM sync_outbox WHERE id = ?"), arguments: [change.id])
            return try base.map { sealers[change.entity].open(try JSONText(parsing: $0)).record }
        }
    }

    /// The least tried of the changes that were tried before, due or not: used to probe an upstream that may be back.
    /// Creations that are only looked for say nothing about that, so they count once they are due, as do changes that the
    /// upstream asked to wait with.
    package func leastTriedChange(at now: Timestamp) throws -> OutboxChange? {
        try read { db in
            func least(_ condition: String) throws -> [Row] {
                try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT * FROM (
                              SELECT * FROM sync_outbox WHERE state = \(OutboxState.queued.sql)
                              UNION ALL
                              SELECT * FROM sync_outbox WHERE state = \(OutboxState.waiting.sql)
                            ) AS change
                            WHERE NOT (\(Self.untriedSQL)) AND \(condition) AND \(Self.freeSQL)
                              AND (coalesce(next_attempt_at, 0) <= ?1
                                OR coalesce(error_class, '') NOT IN (?2, ?3, 'throttled'))
                            ORDER BY tried, id LIMIT 1
                            """),
                    arguments: [now.milliseconds, ErrorClass.accepted.rawValue, ErrorClass.unseen.rawValue])
            }
            return try sendable(PushLane.fields.sql(schema), least).first.flatMap { row in try outboxChange(row, db) }
        }
    }

    /// The entities with edits or deletions that were never tried and were not made within `times`.
    package func entitiesWithHeldChanges(outside times: ClosedRange<Timestamp>) throws -> [String] {
        try read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT DISTINCT entity FROM sync_outbox
                        WHERE state = \(OutboxState.queued.sql) AND tried = 0 AND operation <> 'create' AND content IS NULL
                          AND created_at NOT BETWEEN ? AND ?
                        """),
                arguments: [times.lowerBound.milliseconds, times.upperBound.milliseconds])
        }
    }

    /// Whether a record with this key was cached before the change's first attempt, or came from another creation that was
    /// acknowledged since: then that attempt cannot have created it.
    package func wasKnown(_ key: String, before change: OutboxChange) throws -> Bool {
        let table = try table(change.entity)
        return try read { db in
            let isOlder = try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (
                          SELECT 1 FROM \(table.name)
                          WHERE _key = ? AND _pk <= (SELECT known_pk FROM sync_outbox WHERE id = ?))
                        """),
                arguments: [key, change.id])
            return try isOlder == true || AcknowledgedCreations(table: table, db: db).have(key, since: change.id)
        }
    }

    /// Records that the creation may have made unseen, and that were edited here since: pulls have brought them after its
    /// first attempt. `fields` are those that acknowledged edits have set.
    package func editedTwins(of change: OutboxChange) throws -> [(record: JSONText, fields: Set<String>)] {
        let edits: [(String, Set<String>)] = try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT keys, fields FROM sync_change_log
                        WHERE seq > (SELECT min(seq) FROM sync_change_log WHERE change_id = ?1)
                          AND change_id IS NOT NULL AND kind = '\(ChangeLogKind.acknowledged.rawValue)' AND entity = ?2
                          AND detail ->> '$.operation' = '\(Operation.update.rawValue)'
                        """),
                arguments: [change.id, change.entity]
            ).map { row in
                let key = try JSONText(parsing: row["keys"] as String).elements.first?.string ?? ""
                let fields = try (row["fields"] as String?).map {
                    try JSONText(parsing: $0).elements.compactMap(\.string)
                }
                return (try KeyAlias.current(of: key, change.entity, db), Set(fields ?? []))
            }
        }
        return try Dictionary(edits) { $0.union($1) }.sorted { $0.key < $1.key }.compactMap { key, fields in
            guard try key != change.key && !wasKnown(key, before: change),
                let record = try remote(of: change.entity, key: key)
            else { return nil }
            return (record, fields)
        }
    }

    /// When the next waiting change is due; nil when none waits.
    package func nextAttempt(in lane: PushLane = .fields) throws -> Timestamp? {
        try read { db in
            func next(_ condition: String) throws -> [Row] {
                try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT next_attempt_at, entity FROM sync_outbox
                            WHERE state = \(OutboxState.waiting.sql) AND \(condition) ORDER BY next_attempt_at LIMIT 1
                            """))
            }
            return try sendable(lane.sql(schema), next).first?["next_attempt_at"] as Int64?
        }.map(Timestamp.init(milliseconds:))
    }

    /// The first changes under a condition that can be sent: those of entities that the schema no longer has take no
    /// place among them. They are rare, so they are left out only once one was found.
    private func sendable(_ condition: String, _ query: (_ condition: String) throws -> [Row]) throws -> [Row] {
        let rows = try query(condition)
        guard rows.contains(where: { schema[$0["entity"]] == nil }) else { return rows }
        let names = schema.entities.map { "'\($0.name)'" }.joined(separator: ", ")
        return try query("\(condition) AND entity IN (\(names))")
    }

    /// Records the attempt before it is made. False when the change is not as it was read: it left the queue, is being
    /// sent, was tried since, or has another body.
    ///
    /// `isLookUp`: nothing is sent, so the time of the last attempt stays.
    package func begin(_ change: OutboxChange, at now: Timestamp, isLookUp: Bool = false) async throws -> Bool {
        let table = try table(change.entity)
        return try await self.change(at: now) { [self] context in try begin(change, in: table, isLookUp, context) }
    }

    /// The same for the changes of a batch, in one transaction. Returns those that have begun. Of the `hidden` ones the
    /// batch does not carry the keys that the upstream would know them by.
    package func begin(
        batch changes: [OutboxChange], hidingKeysOf hidden: Set<Int64> = [], at now: Timestamp
    ) async throws -> Set<Int64> {
        let tables = try changes.map { try table($0.entity) }
        return try await self.change(at: now) { [self] context in
            var begun: Set<Int64> = []
            for (change, table) in zip(changes, tables) where try begin(change, in: table, false, context) {
                if hidden.contains(change.id) { try context.queue.hideKey(change.id) }
                begun.insert(change.id)
            }
            return begun
        }
    }

    private func begin(
        _ change: OutboxChange, in table: EntityTable, _ isLookUp: Bool, _ context: WriteContext
    ) throws -> Bool {
        guard try context.queue.begin(change, in: table, at: context.now, isLookUp: isLookUp) else { return false }
        try context.log.append(
            .uploading, change: change.id, entity: change.entity, key: change.key,
            fields: change.storedBody.members.map(\.key), detail: [("attempt", .integer(change.tried + 1))])
        // Readers see the state of the upload (`ContentPlan.state`).
        if change.content != nil { try context.writer(table).rebuildDocument(over: change.key) }
        return true
    }

    /// Applies the outcome of an attempt to the change and its record, in one transaction. Throws `.conflict` when no
    /// attempt is under way, unless the upstream has accepted the change. `takingBack`: the upstream applied nothing of the
    /// attempt, so a change that waits or failed is as likely to have arrived as before.
    package func settle(
        _ id: Int64, _ outcome: PushOutcome, takingBack: Bool = false, at now: Timestamp
    ) async throws {
        try await change(at: now) { context in
            try OutcomeApplier(context: context).settle(id, outcome, takingBack: takingBack)
        }
    }

    /// Makes changes ready again if the process ended during their attempts; they keep their idempotency keys.
    ///
    /// A clock that was set back must not make changes wait for years: `longest` is the longest wait after a number of
    /// attempts. The upstream may have asked for a wait of an hour.
    package func recoverInterrupted(at now: Timestamp, longest: (_ attempts: Int) -> Duration) async throws -> Int {
        let attempts = try read { db in
            try Int.fetchAll(
                db,
                sql:
                    "SELECT DISTINCT attempt_count FROM sync_outbox WHERE state = \(OutboxState.waiting.sql) AND next_attempt_at > ?",
                arguments: [now.milliseconds])
        }
        let waits = attempts.map { (attempts: $0, until: (now + longest($0)).milliseconds) }
        return try await change(at: now) { [self] context in
            for wait in waits {
                try context.db.execute(
                    sql: """
                        UPDATE sync_outbox
                        SET next_attempt_at = min(next_attempt_at, iif(error_class = 'throttled', ?1 + 3600000, ?2))
                        WHERE state = \(OutboxState.waiting.sql) AND attempt_count = ?3
                        """,
                    arguments: [now.milliseconds, wait.until, wait.attempts])
            }
            return try recover(nil, context)
        }
    }

    /// The same for these changes only, whose attempts ended without a stored outcome.
    package func recoverUnsettled(_ changes: Set<Int64>, at now: Timestamp) async throws -> Int {
        try await change(at: now) { [self] context in try recover(changes, context) }
    }

    private func recover(_ changes: Set<Int64>?, _ context: WriteContext) throws -> Int {
        let rows = try context.queue.recover(changes)
        for row in rows {
            try context.log.append(.queued, row, detail: [ChangeLogReason.interrupted.member])
            try OutcomeApplier(context: context).catchUp(row["entity"], row["record_key"])
        }
        return rows.count
    }

    /// Makes waiting changes due at once: the upstream is back. Those that it asked to wait with still wait.
    package func hastenWaiting(at now: Timestamp) async throws {
        try await writer.write { db in
            try db.execute(
                sql:
                    """
                    UPDATE sync_outbox SET next_attempt_at = ?1
                    WHERE state = \(OutboxState.waiting.sql) AND next_attempt_at > ?1 AND error_class IS NOT 'throttled'
                    """,
                arguments: [now.milliseconds])
        }
    }

    func outboxChange(_ row: Row, _ db: Database) throws -> OutboxChange? {
        // A change of an entity that the schema no longer has stays until the schema has it again.
        guard let entity = schema[row["entity"]] else { return nil }
        let body = try JSONText(parsing: row["body"] as String)
        let record = try RecordRow(table: EntityTable(entity: entity), db: db).load(row["record_key"])
        let version = try version(of: row["record_key"], entity, record?.remote, db)
        // Only the body is sent; the rest of the record must not contain secrets.
        let sealer = sealers[entity.name]
        let opened = sealer.open(body)
        let secrets = [body, record?.document, record?.remote].compactMap(\.self).flatMap(sealer.texts)
        let operation = Operation(rawValue: row["operation"]) ?? .update
        let replaced = try replaced(by: body, operation, entity, record)
        let shown = sealer.withoutSealed(record?.document ?? body)
        let far = FarValues(schema: schema, db: db)
        let known = try far.added(to: shown, of: entity)
        let remote = operation == .create || entity.addressFields.isEmpty ? nil : record?.remote
        let located = remote.map { entity.located(shown, as: sealer.withoutSealed($0)) } ?? shown
        var trace = (row["trace"] as String?).flatMap(TraceContext.init(stored:))
        trace?.attempt = row["tried"]
        return OutboxChange(
            id: row["id"], entity: entity.name, key: row["record_key"],
            operation: operation, body: opened.record, storedBody: body,
            unreadable: opened.unreadable + (replaced?.unreadable ?? []), secrets: secrets,
            record: known, address: located == shown ? known : try far.added(to: located, of: entity),
            idempotencyKey: row["idempotency_key"],
            attemptCount: row["attempt_count"], tried: row["tried"], version: version,
            createdAt: Timestamp(milliseconds: row["created_at"]),
            content: try ContentTable(db: db).change(row["content"]), replaced: replaced?.record,
            errorClass: (row["error_class"] as String?).map(ErrorClass.init),
            meaning: Meaning(entity, forms: try NormalFormTable(db: db).forms(of: entity.name)),
            firstAttemptAt: (row["first_attempt_at"] as Int64?).map(Timestamp.init(milliseconds:)),
            lastAttemptAt: (row["last_attempt_at"] as Int64?).map(Timestamp.init(milliseconds:)), trace: trace)
    }

    /// What the server has of a record that an update sends as a whole; nil for an update that sends only its fields.
    private func replaced(
        by body: JSONText, _ operation: Operation, _ entity: Entity, _ record: RecordRow.Content?
    ) throws -> RecordSealer.Opened? {
        guard operation == .update, let record, let remote = record.remote,
            entity.needsRemote(updating: body.members.map(\.key), record: record.document)
        else { return nil }
        return sealers[entity.name].open(remote)
    }

    private func version(of key: String, _ entity: Entity, _ remote: JSONText?, _ db: Database) throws -> String? {
        switch schema.upstream.version {
        case nil: nil
        case .field(let field): remote?.at(path: field.place)?.plain
        case .etag:
            try String.fetchOne(
                db.cachedStatement(sql: "SELECT _version FROM \(EntityTable(entity: entity).name) WHERE _key = ?"),
                arguments: [key])
        }
    }
}
