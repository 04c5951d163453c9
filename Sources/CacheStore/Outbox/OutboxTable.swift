internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The rows of the queue and their dependencies, inside the caller's transaction.
struct OutboxTable {
    struct NewChange {
        var entity: Entity
        var key: String
        var operation: Operation
        var body: JSONText
        var base: JSONText
        /// Field → when it was edited, in milliseconds of the server's clock.
        var edited: JSONText
        var group: String?
        var idempotencyKey: String
        /// For a change of the record's content: its SHA-256, or an empty text for its deletion.
        var content: String?
    }

    struct Entry {
        var id: Int64
        var entity: String
        var key: String
        var operation: Operation
        var body: JSONText
        var base: JSONText
        var edited: JSONText
        var createdAt: Timestamp
        /// An attempt may have reached the upstream.
        var tried: Bool
        var state: OutboxState
        /// As `NewChange.content`.
        var content: String?
        /// `PushFailure.kind` of the last failure.
        var errorClass: String?

        /// It failed for good, and the server has nothing of it.
        var isRefused: Bool {
            state == .failed && ["refused", "conflict", "sealed", "unsendable"].contains(errorClass)
        }

        /// The server has nothing of it: it was never sent, or refused.
        var isUnknownThere: Bool { !tried || isRefused }

        /// By the server's clock.
        func editedAt(_ field: String) -> Timestamp {
            edited[field]?.integer.map { Timestamp(milliseconds: Int64($0)) } ?? createdAt
        }

        var lastEdit: Timestamp {
            edited.members.compactMap(\.value.integer).max().map { Timestamp(milliseconds: Int64($0)) } ?? createdAt
        }
    }

    /// The name of the whole record among the edited fields.
    static let wholeRecord = "*"

    let schema: EntitySchema
    let db: Database

    // MARK: Adding

    /// Returns the change's id. Log it before the next one is added.
    func append(_ change: NewChange, at now: Timestamp) throws -> Int64 {
        try insert(change, needing: needs(of: change), at: now)
    }

    /// Merges an update into the record's last change when that was never sent; otherwise adds it. Returns the id of the
    /// change that has it now.
    func joinOrAppend(_ change: NewChange, at now: Timestamp) throws -> Int64 {
        let waiting = try changes(of: change.entity.name, key: change.key)
        if let corrected = try correctRefused(change, waiting) { return corrected }
        if let joined = try join(change, waiting) { return joined }
        return try insert(change, needing: needs(of: change, isFirst: waiting.isEmpty), at: now)
    }

    private func insert(_ change: NewChange, needing needs: Set<Int64>, at now: Timestamp) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_outbox (id, entity, record_key, operation, body, base, edited, idempotency_key,
                  order_group, created_at, content)
                VALUES (\(Self.nextID), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            change.entity.name, change.key, change.operation.rawValue, change.body.text, change.base.text,
            change.edited.text, change.idempotencyKey, change.group, now.milliseconds, change.content,
        ])
        let id = db.lastInsertedRowID
        try ContentTable(db: db).countQueued(change.content, 1)
        try depend(id, on: needs)
        return id
    }

    /// An id that no change has had.
    static let nextID = "1 + max(coalesce((SELECT max(id) FROM sync_outbox), 0), \(ChangeLog.lastChange))"

    private func join(_ change: NewChange, _ waiting: [Entry]) throws -> Int64? {
        guard let last = waiting.last(where: { $0.content == nil }), !last.tried,
            last.state == .queued, last.operation != .delete
        else { return nil }
        let body = last.body.setting(change.body)
        guard change.entity.canSend(body, by: last.operation) else { return nil }
        // Waiting for a newer change could close a cycle.
        let needs = try referenceNeeds(of: change)
        guard needs.allSatisfy({ $0 < last.id }) else { return nil }
        try db.cachedStatement(
            sql: "UPDATE sync_outbox SET body = ?, base = ?, edited = ? WHERE id = ?"
        ).execute(arguments: [
            body.text, change.base.setting(last.base).text, last.edited.setting(change.edited).text, last.id,
        ])
        try depend(last.id, on: needs)
        return last.id
    }

    /// Replaces a change's body and base. An update that is left without fields leaves the queue.
    ///
    /// A change that was tried with another body gets a new idempotency key, since sending it is no longer a repeat.
    func store(_ body: JSONText, base: JSONText, of change: Entry, makeID: () -> String) throws {
        guard body != change.body || base != change.base else { return }
        if change.operation == .update, body.members.isEmpty { return try remove(change.id) }
        try db.cachedStatement(sql: "UPDATE sync_outbox SET body = ?, base = ? WHERE id = ?")
            .execute(arguments: [body.text, base.text, change.id])
        guard change.tried, body != change.body else { return }
        try db.cachedStatement(sql: "UPDATE sync_outbox SET idempotency_key = ? WHERE id = ?")
            .execute(arguments: [makeID(), change.id])
    }

    // MARK: What waits for what

    /// `id` is the change's own, if it has one: only older changes come before it. `isFirst`: its record has no others.
    func needs(of change: NewChange, before id: Int64 = .max, isFirst: Bool = false) throws -> Set<Int64> {
        var needs = try referenceNeeds(of: change)
        if !isFirst { try needs.formUnion(recordNeeds(of: change, before: id)) }
        if let group = try groupNeed(of: change, before: id) { needs.insert(group) }
        needs.remove(id)
        return needs
    }

    private func groupNeed(of change: NewChange, before id: Int64) throws -> Int64? {
        guard let group = change.group else { return nil }
        return try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(id) FROM sync_outbox WHERE entity = ? AND order_group = ? AND id < ?"),
            arguments: [change.entity.name, group, id])
    }

    /// The changes of the same record that come before it. Content and fields wait for each other only if they must, so
    /// that an edit does not wait for a large picture: content waits for the record's creation, a deletion for
    /// everything.
    private func recordNeeds(of change: NewChange, before id: Int64) throws -> [Int64] {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max(id) FILTER (WHERE content IS NULL) AS fields,
                      max(id) FILTER (WHERE content IS NOT NULL) AS content,
                      max(id) FILTER (WHERE operation = 'create') AS creation
                    FROM sync_outbox WHERE entity = ? AND record_key = ? AND id < ?
                    """),
            arguments: [change.entity.name, change.key, id])
        let fields: Int64? = row?["fields"]
        let content: Int64? = row?["content"]
        let creation: Int64? = row?["creation"]
        if change.content != nil { return [creation, content].compactMap(\.self) }
        return [fields, change.operation == .delete ? content : nil].compactMap(\.self)
    }

    /// The creations of the records that the change refers to.
    private func referenceNeeds(of change: NewChange) throws -> Set<Int64> {
        var needs: Set<Int64> = []
        for field in change.entity.fields {
            guard case .reference(let target) = field.kind, let key = change.body[field.name]?.plain else { continue }
            let creation = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT id FROM sync_outbox WHERE entity = ? AND record_key = ? AND operation = 'create'"),
                arguments: [target, key])
            if let creation { needs.insert(creation) }
        }
        return needs
    }

    func depend(_ id: Int64, on needs: Set<Int64>) throws {
        for need in needs where need != id {
            try db.cachedStatement(sql: "INSERT INTO sync_dependency VALUES (?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [id, need])
        }
    }

    // MARK: Looking and removing

    func changes(of entity: String, key: String) throws -> [Entry] {
        try Row.fetchAll(
            db.cachedStatement(sql: "\(Self.columns) WHERE entity = ? AND record_key = ? ORDER BY id"),
            arguments: [entity, key]
        ).map(Self.entry)
    }

    func change(_ id: Int64) throws -> Entry {
        guard let entry = try entry(id) else {
            throw CacheError.notFound("no change \(id) is pending; it was acknowledged or discarded")
        }
        return entry
    }

    func entry(_ id: Int64) throws -> Entry? {
        try Row.fetchOne(db.cachedStatement(sql: "\(Self.columns) WHERE id = ?"), arguments: [id]).map(Self.entry)
    }

    /// Removes a change from the queue; log why. Changes that waited for it now wait for what it waited for, and its
    /// open conflicts are closed with it.
    func remove(_ id: Int64) throws {
        // Looking costs a tenth of an UPDATE that finds nothing.
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT content, EXISTS (SELECT 1 FROM sync_dependency WHERE change_id = ?1)
                        OR EXISTS (SELECT 1 FROM sync_dependency WHERE needs_id = ?1) AS linked,
                      EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = ?1 AND winner IS NULL) AS disputed
                    FROM sync_outbox WHERE id = ?1
                    """),
            arguments: [id])
        guard let row else { return }
        let (content, isLinked, isDisputed): (String?, Bool, Bool) = (row["content"], row["linked"], row["disputed"])
        if isLinked { try unlink(id) }
        try db.cachedStatement(sql: "DELETE FROM sync_outbox WHERE id = ?").execute(arguments: [id])
        try ContentTable(db: db).countQueued(content, -1)
        guard isDisputed else { return }
        try db.cachedStatement(
            sql: "UPDATE sync_conflict SET winner = 'server', decided_at = at WHERE change_id = ? AND winner IS NULL"
        ).execute(arguments: [id])
    }

    private func unlink(_ id: Int64) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_dependency
                SELECT waiting.change_id, needed.needs_id FROM sync_dependency waiting, sync_dependency needed
                WHERE waiting.needs_id = ?1 AND needed.change_id = ?1
                ON CONFLICT DO NOTHING
                """
        ).execute(arguments: [id])
        try db.cachedStatement(sql: "DELETE FROM sync_dependency WHERE change_id = ?1 OR needs_id = ?1")
            .execute(arguments: [id])
    }

    /// Empties the queue, with everything that belongs to it.
    func removeAll() throws {
        try db.execute(
            sql: """
                UPDATE sync_content SET uses = uses - queued, queued = 0 WHERE queued > 0;
                DELETE FROM sync_outbox;
                DELETE FROM sync_dependency;
                DELETE FROM sync_conflict WHERE winner IS NULL;
                UPDATE sync_tally SET count = 0 WHERE name = 'conflicts';
                """)
    }

    static let columns = """
        SELECT id, entity, record_key, operation, body, base, edited, created_at, tried, state, content,
          error_class
        FROM sync_outbox
        """

    static func entry(_ row: Row) throws -> Entry {
        Entry(
            id: row["id"], entity: row["entity"], key: row["record_key"],
            operation: Operation(rawValue: row["operation"]) ?? .update,
            body: try JSONText(parsing: row["body"] as String),
            base: try JSONText(parsing: row["base"] as String), edited: try JSONText(parsing: row["edited"] as String),
            createdAt: Timestamp(milliseconds: row["created_at"]), tried: row["tried"] > 0,
            state: OutboxState(rawValue: row["state"]) ?? .queued, content: row["content"],
            errorClass: row["error_class"])
    }
}

extension ChangeLog {
    /// A step of a queued change. Returns the entry's number.
    @discardableResult
    func append(
        _ kind: ChangeLogKind, _ change: OutboxTable.Entry, detail: [(key: String, value: JSONText)] = []
    ) throws -> Int64 {
        try append(
            kind, change: change.id, entity: change.entity, key: change.key,
            fields: change.body.members.map(\.key), detail: detail)
    }
}
