package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Which queued changes may be sent, and when.
extension CacheStore {
    /// Changes that may be sent now, oldest first: due and without dependencies. `untried` leaves out changes that were
    /// tried, or sent and refused; `others` are about to be sent already. Changes beyond `bytes` of memory come another time,
    /// all but the first.
    package func readyChanges(
        limit: Int, atMost bytes: Int = .max, at now: Timestamp, untried: Bool = false, in lane: PushLane = .fields,
        notOf others: Set<Int64> = []
    ) throws -> [OutboxChange] {
        try read { db in
            let condition = untried ? "\(lane.sql(schema)) AND \(Self.untriedSQL)" : lane.sql(schema)
            let ready = try sendable(condition) { condition in
                try Row.fetchAll(
                    db.cachedStatement(sql: Self.readySQL(condition)),
                    arguments: [now.milliseconds, limit + others.count])
            }
            let ids = ready.map { $0["id"] as Int64 }.filter { !others.contains($0) }.sorted().prefix(limit)
            return try changes(Array(ids), atMost: bytes, db)
        }
    }

    /// The id of the newest change in the queue, in any state; 0 when there is none.
    package func newestChange() throws -> Int64 { try read { db in try OutboxTable.newest(db) } }

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

    /// The least tried of the changes that were tried before, due or not: used to probe an upstream that may be back.
    /// Creations that are only looked for say nothing about that, so they count once they are due, as do changes that the
    /// upstream asked to wait with.
    package func leastTriedChange(at now: Timestamp) throws -> OutboxChange? {
        try read { db in
            let rows = try sendable(PushLane.fields.sql(schema)) { condition in
                try Row.fetchAll(
                    db.cachedStatement(sql: Self.leastTriedSQL(condition)),
                    arguments: [now.milliseconds, ErrorClass.accepted.rawValue, ErrorClass.unseen.rawValue])
            }
            return try rows.first.flatMap { row in try outboxChange(row, db) }
        }
    }

    /// The entities with edits or deletions that were never tried, were not made within `times`, and do not wait for a person.
    package func entitiesWithHeldChanges(outside times: ClosedRange<Timestamp>) throws -> [String] {
        try read { db in
            try String.fetchAll(
                db.cachedStatement(sql: Self.heldEntitiesSQL),
                arguments: [times.lowerBound.milliseconds, times.upperBound.milliseconds])
        }
    }

    /// When the next waiting change is due; nil when none waits.
    package func nextAttempt(in lane: PushLane = .fields) throws -> Timestamp? {
        try read { db in
            let next = try sendable(lane.sql(schema)) { condition in
                try Row.fetchAll(db.cachedStatement(sql: Self.nextSQL(condition)))
            }
            return next.first?["next_attempt_at"] as Int64?
        }.map(Timestamp.init(milliseconds:))
    }

    // MARK: Parts

    /// The first changes under a condition that can be sent: those of entities that the schema no longer has take no
    /// place among them. They are rare, so they are left out only once one was found.
    private func sendable(_ condition: String, _ query: (_ condition: String) throws -> [Row]) throws -> [Row] {
        let rows = try query(condition)
        guard rows.contains(where: { schema[$0["entity"]] == nil }) else { return rows }
        return try query("\(condition) AND entity IN (\(schema.namesSQL))")
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

    // MARK: Statements

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

    /// The opposite of `OutboxChange.wasAttempted`: a change that is neither would wait for ever once retries are rationed.
    private static let untriedSQL = "tried = 0 AND error_class IS NULL AND state = \(OutboxState.queued.sql)"

    /// ?2 and ?3 are the classes of changes that are only looked for.
    private static func leastTriedSQL(_ condition: String) -> String {
        """
        SELECT * FROM (
          SELECT * FROM sync_outbox WHERE state = \(OutboxState.queued.sql)
          UNION ALL
          SELECT * FROM sync_outbox WHERE state = \(OutboxState.waiting.sql)
        ) AS change
        WHERE NOT (\(untriedSQL)) AND \(condition) AND \(freeSQL)
          AND (coalesce(next_attempt_at, 0) <= ?1 OR coalesce(error_class, '') NOT IN (?2, ?3, 'throttled'))
        ORDER BY tried, id LIMIT 1
        """
    }

    private static let heldEntitiesSQL = """
        SELECT DISTINCT entity FROM sync_outbox AS change
        WHERE state = \(OutboxState.queued.sql) AND tried = 0 AND operation <> 'create' AND content IS NULL
          AND created_at NOT BETWEEN ? AND ?
          AND NOT EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = change.id AND winner IS NULL)
          AND NOT EXISTS (
            SELECT 1 FROM sync_dependency JOIN sync_outbox AS needed ON needed.id = needs_id
            WHERE change_id = change.id AND needed.state = \(OutboxState.failed.sql))
        """

    private static func nextSQL(_ condition: String) -> String {
        """
        SELECT next_attempt_at, entity FROM sync_outbox
        WHERE state = \(OutboxState.waiting.sql) AND \(condition) ORDER BY next_attempt_at LIMIT 1
        """
    }
}
