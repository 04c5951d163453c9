internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The log of conflicts and decisions, which is kept permanently; inside the caller's transaction.
///
/// Of one field of one change it has `most` at most: while the change waits, the upstream may show another value each time.
struct ConflictTable {
    struct Entry {
        var id: Int64
        var changeID: Int64
        var entity: String
        var key: String
        var operation: Operation
        var field: String?
        var base: JSONText?
        var local: JSONText?
        var server: JSONText?
        /// Nil until it is decided.
        var winner: Conflict.Side?
        var isUndone: Bool
    }

    let db: Database
    let now: Timestamp

    private static let most = 10

    /// Logs a conflict that was decided, or that waits for a user. Returns its id.
    func note(_ dispute: Conflict.Dispute, rule: ConflictPolicy, winner: Conflict.Side?) throws -> Int64 {
        if let winner, let last = try renew(dispute, winner: winner) { return last }
        return try insert(dispute, rule: rule, winner: winner)
    }

    /// Makes the last of many conflicts that were decided in the same way the present one, and returns its id; nil while there
    /// are few.
    private func renew(_ dispute: Conflict.Dispute, winner: Conflict.Side) throws -> Int64? {
        let change = dispute.change
        let decided = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id FROM sync_conflict
                    WHERE entity = ? AND record_key = ? AND change_id = ? AND field IS ? AND winner = ? AND undone_at IS NULL
                    ORDER BY id DESC LIMIT \(Self.most)
                    """),
            arguments: [change.entity, change.key, change.id, dispute.field, winner.rawValue])
        guard decided.count == Self.most, let last = decided.first else { return nil }
        try db.cachedStatement(
            sql: """
                UPDATE sync_conflict SET at = ?1, base = ?2, local = ?3, server = ?4, local_at = ?5, server_at = ?6,
                  decided_at = ?1
                WHERE id = ?7
                """
        ).execute(arguments: [
            now.milliseconds, dispute.base?.text, dispute.local?.text, dispute.server?.text,
            dispute.localAt.milliseconds, dispute.serverAt?.milliseconds, last,
        ])
        return last
    }

    private func insert(_ dispute: Conflict.Dispute, rule: ConflictPolicy, winner: Conflict.Side?) throws -> Int64 {
        let change = dispute.change
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_conflict (at, change_id, entity, record_key, operation, field, base, local, server,
                  local_at, server_at, rule, winner, decided_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            now.milliseconds, change.id, change.entity, change.key, change.operation.rawValue, dispute.field,
            dispute.base?.text, dispute.local?.text, dispute.server?.text, dispute.localAt.milliseconds,
            dispute.serverAt?.milliseconds, rule.rawValue, winner?.rawValue, winner.map { _ in now.milliseconds },
        ])
        return db.lastInsertedRowID
    }

    /// Updates the open conflict of the same change and field; false when there is none.
    func refresh(_ dispute: Conflict.Dispute) throws -> Bool {
        try db.cachedStatement(
            sql: """
                UPDATE sync_conflict SET local = ?3, server = ?4, local_at = ?5, server_at = ?6
                WHERE change_id = ?1 AND field IS ?2 AND winner IS NULL
                """
        ).execute(arguments: [
            dispute.change.id, dispute.field, dispute.local?.text, dispute.server?.text,
            dispute.localAt.milliseconds, dispute.serverAt?.milliseconds,
        ])
        return db.changesCount > 0
    }

    func entry(_ id: Int64) throws -> Entry {
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM sync_conflict WHERE id = ?"), arguments: [id])
        guard let row else { throw CacheError.notFound("there is no conflict \(id)") }
        return Entry(
            id: id, changeID: row["change_id"], entity: row["entity"], key: row["record_key"],
            operation: Operation(rawValue: row["operation"]) ?? .update, field: row["field"],
            base: try row.json("base"), local: try row.json("local"), server: try row.json("server"),
            winner: (row["winner"] as String?).flatMap(Conflict.Side.init), isUndone: row["undone_at"] != nil)
    }

    /// Replaces the local side of an open conflict.
    func setLocal(_ local: JSONText, at time: Timestamp, of id: Int64) throws {
        try db.cachedStatement(sql: "UPDATE sync_conflict SET local = ?, local_at = ? WHERE id = ?")
            .execute(arguments: [local.text, time.milliseconds, id])
    }

    func decide(_ id: Int64, _ winner: Conflict.Side) throws {
        try db.cachedStatement(sql: "UPDATE sync_conflict SET winner = ?, decided_at = ? WHERE id = ?")
            .execute(arguments: [winner.rawValue, now.milliseconds, id])
    }

    func decideOpen(of change: Int64, field: String, _ winner: Conflict.Side) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_conflict SET winner = ?, decided_at = ? WHERE change_id = ? AND field = ? AND winner IS NULL
                """
        ).execute(arguments: [winner.rawValue, now.milliseconds, change, field])
    }

    /// Whether the server has deleted the change's record and that conflict is still open.
    func isDeletionOpen(of change: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_conflict
                      WHERE change_id = ? AND winner IS NULL AND field IS NULL AND server IS NULL)
                    """),
            arguments: [change]) ?? false
    }

    /// The same for any change of a record.
    func isDeletionOpen(of entity: String, key: String) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_conflict
                      WHERE entity = ? AND record_key = ? AND winner IS NULL AND field IS NULL AND server IS NULL)
                    """),
            arguments: [entity, key]) ?? false
    }

    /// The record from before the server deleted it, if this change was decided to create it again; nil otherwise.
    func recreated(by change: Int64) throws -> JSONText? {
        let base = try String.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT base FROM sync_conflict
                    WHERE change_id = ? AND winner = 'local' AND field IS NULL AND server IS NULL AND base IS NOT NULL
                    ORDER BY id DESC LIMIT 1
                    """),
            arguments: [change])
        return try base.map { try JSONText(parsing: $0) }
    }

    func markUndone(_ id: Int64) throws {
        try db.cachedStatement(sql: "UPDATE sync_conflict SET undone_at = ? WHERE id = ?")
            .execute(arguments: [now.milliseconds, id])
    }
}
