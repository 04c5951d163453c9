internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The rows of the queue and their dependencies, inside the caller's transaction.
struct OutboxTable {
    /// The name of the whole record among the edited fields.
    static let wholeRecord = "*"

    let records: RecordTransaction
    /// Goes with every change that is queued.
    var trace: TraceContext?

    var schema: EntitySchema { records.plans.schema }
    var db: Database { records.db }
    private var statements: QueueStatements { records.plans.queue }

    // MARK: Adding

    /// Returns the change's id. Log it.
    func append(_ change: NewChange, at now: Timestamp) throws -> Int64 {
        try insert(change, needing: needs(of: change), at: now)
    }

    /// Merges an update into the record's last change when that was never sent; otherwise adds it. Returns the id of the
    /// change that has it now. `waiting`: all changes of the record, before and after.
    func joinOrAppend(_ change: NewChange, to waiting: inout [Entry], at now: Timestamp) throws -> Int64 {
        if let corrected = try correctRefused(change, waiting) {
            waiting = try changes(of: change.entity.name, key: change.key)
            return corrected
        }
        if let place = try join(change, &waiting) { return waiting[place].id }
        let id = try insert(change, needing: needs(of: change, isFirst: waiting.isEmpty), at: now)
        waiting.append(Entry(change, id: id, at: now))
        return id
    }

    private func insert(_ change: NewChange, needing needs: Set<Int64>, at now: Timestamp) throws -> Int64 {
        var last = try records.lastNumbers()
        let id = try last.takeChange()
        try records.with(statements.insert) { statement in
            try statement.bind(id, to: 1)
            try statement.bind(change.entity.name, to: 2)
            try statement.bind(change.key, to: 3)
            try statement.bind(change.operation.rawValue, to: 4)
            try statement.bind(change.body, to: 5)
            try statement.bind(change.base, to: 6)
            try statement.bind(change.edited, to: 7)
            try statement.bind(change.idempotencyKey, to: 8)
            try statement.bind(change.group, to: 9)
            try statement.bind(now.milliseconds, to: 10)
            try statement.bind(change.content, to: 11)
            try statement.bind(trace?.stored, to: 12)
            try statement.run()
        }
        records.note(last)
        try ContentTable(db: db).countQueued(change.content, 1)
        try depend(id, on: needs)
        return id
    }

    /// Returns the place of the change that has it now.
    private func join(_ change: NewChange, _ waiting: inout [Entry]) throws -> Int? {
        guard let place = waiting.lastIndex(where: { !$0.isContentOnly }) else { return nil }
        var last = waiting[place]
        // The upstream may remember the body of an attempt that it refused by the key.
        guard !last.tried, last.errorClass == nil, last.state == .queued, last.operation != .delete else { return nil }
        if last.operation == .update, skipsStep(change, after: last, waiting[..<place]) { return nil }
        let body = last.body.setting(change.body)
        guard change.entity.canSend(body, by: last.operation), try !isOvertaking(change, joining: last.id) else {
            return nil
        }
        var joined = change
        joined.operation = last.operation
        let needs = try referenceNeeds(of: change).union(partnerNeeds(of: joined, before: last.id))
        // Waiting for a newer change could close a cycle.
        guard needs.allSatisfy({ $0 < last.id }) else { return nil }
        let former = try creations(in: last.body, of: change.entity) { change.body[$0] != nil }
        // A new record may move to another group.
        let group = last.operation == .create ? change.entity.orderGroup(of: change.key, in: change.body) : nil
        (joined.body, joined.group) = (body, group ?? change.group)
        last.body = body
        last.base = change.base.setting(last.base)
        last.edited = last.edited.setting(change.edited)
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET body = ?, base = ?, edited = ?, order_group = coalesce(?, order_group),
                  trace = coalesce(?, trace)
                WHERE id = ?
                """
        ).execute(arguments: [last.body.text, last.base.text, last.edited.text, group, trace?.stored, last.id])
        if group == nil, former.isSubset(of: needs) {
            try depend(last.id, on: needs)
        } else {
            try depend(last.id, onlyOn: self.needs(of: joined, before: last.id).filter { $0 < last.id })
        }
        waiting[place] = last
        return place
    }

    /// Whether the two as one change would leave out a value of a field with steps; one that is taken back does not count.
    private func skipsStep(_ change: NewChange, after last: Entry, _ earlier: ArraySlice<Entry>) -> Bool {
        change.entity.fields.contains { field in
            guard field.hasSteps, last.body[field.name] != nil, let new = change.body[field.name] else { return false }
            return new != earlier.reversed().lazy.compactMap { $0.body[field.name] }.first ?? last.base[field.name]
        }
    }

    /// Replaces a change's body and base. An update that is left without fields leaves the queue.
    ///
    /// A change that was tried with another body gets a new idempotency key, since sending it is no longer a repeat.
    func store(_ body: JSONText, base: JSONText, of change: Entry, makeID: () -> String) throws {
        guard body != change.body || base != change.base else { return }
        if change.operation == .update, body.members.isEmpty { return try remove(change.id) }
        try db.cachedStatement(sql: "UPDATE sync_outbox SET body = ?, base = ? WHERE id = ?")
            .execute(arguments: [body.text, base.text, change.id])
        if body != change.body { try renewKey(of: change, makeID: makeID) }
    }

    /// Gives a change that was tried another idempotency key, since sending it is no longer a repeat.
    func renewKey(of change: Entry, makeID: () -> String) throws {
        if change.tried { try giveKey(makeID(), to: change.id) }
    }

    /// Gives a change another idempotency key. If it went out without its key, it stays marked so: the upstream knows it by none.
    func giveKey(_ key: String, to id: Int64) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox
                SET idempotency_key = iif(tried > 0 AND idempotency_key GLOB '\(OutboxChange.hiddenKeyMark)*',
                  '\(OutboxChange.hiddenKeyMark)', '') || ?
                WHERE id = ?
                """
        ).execute(arguments: [key, id])
    }

    /// The id of the newest change in the queue, in any state; 0 when there is none.
    static func newest(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM sync_outbox")) ?? 0
    }

    /// The greatest `_pk` that was noted before the first attempt of a creation; see `CacheStore.wasKnown`.
    func greatestKnownPK(of entity: String) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT max(known_pk) FROM sync_outbox WHERE entity = ? AND operation = 'create'"),
            arguments: [entity])
    }

    // MARK: Looking and removing

    /// All changes of the record, oldest first.
    func changes(of entity: String, key: String) throws -> [Entry] {
        try records.with(statements.changes) { statement in
            try statement.bind(entity, to: 1)
            try statement.bind(key, to: 2)
            var changes: [Entry] = []
            while try statement.step() { changes.append(try Entry(reading: statement)) }
            return changes
        }
    }

    func change(_ id: Int64) throws -> Entry {
        guard let entry = try entry(id) else { throw Self.notPending(id) }
        return entry
    }

    static func notPending(_ id: Int64) -> CacheError {
        .notFound("no change \(id) is pending; one that was acknowledged or discarded has left the queue")
    }

    func entry(_ id: Int64) throws -> Entry? {
        try records.with(statements.change) { statement in
            try statement.bind(id, to: 1)
            return try statement.step() ? Entry(reading: statement) : nil
        }
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
}

extension ChangeLog {
    /// A step of a queued change. Returns the entry's number.
    @discardableResult
    func append(
        _ kind: ChangeLogKind, _ change: OutboxTable.Entry, detail: [(key: String, value: JSONText)]
    ) throws -> Int64 {
        try append(
            kind, change: change.id, entity: change.entity, key: change.key,
            fields: change.body.members.map(\.key), detail: detail)
    }
}
