internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// How far each hook is, and what was parked; inside the caller's transaction.
struct HookTable {
    let db: Database

    private static let columns = """
        SELECT name, position, paused, attempt_count, next_at, error, delivered, delivered_at,
          (SELECT count(*) FROM sync_hook_parked WHERE hook = name)
        FROM sync_hook
        """

    func all() throws -> [HookState] {
        try Row.fetchAll(db.cachedStatement(sql: "\(Self.columns) ORDER BY name")).map(HookState.init)
    }

    /// Nil if no such hook has been started.
    func state(_ name: String) throws -> HookState? {
        try Row.fetchOne(db.cachedStatement(sql: "\(Self.columns) WHERE name = ?"), arguments: [name])
            .map(HookState.init)
    }

    /// Up to where all hooks are; nil without hooks.
    func leastPosition() throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(position) FROM sync_hook"))
    }

    // MARK: Starting

    /// A hook that is new starts at `end`. Those not among `names` are forgotten, with what they have parked.
    func start(_ names: [String], at end: Int64) throws {
        let list = JSONText.array(of: names).text
        for (table, column) in [("sync_hook", "name"), ("sync_hook_parked", "hook")] {
            try db.execute(
                sql: "DELETE FROM \(table) WHERE \(column) NOT IN (SELECT value FROM json_each(?))",
                arguments: [list])
        }
        try db.execute(
            sql: """
                INSERT INTO sync_hook (name, position) SELECT value, ? FROM json_each(?) WHERE true
                ON CONFLICT DO NOTHING
                """,
            arguments: [end, list])
    }

    // MARK: Delivering

    /// Does nothing if the hook is past the event, as after it was skipped meanwhile.
    func finish(_ name: String, _ occurrence: HookOccurrence, _ outcome: HookOutcome, at now: Timestamp) throws {
        switch outcome {
        case .delivered(let earlier):
            try db.cachedStatement(
                sql: """
                    UPDATE sync_hook SET position = ?1, attempt_count = 0, next_at = NULL, error = NULL,
                      delivered = delivered + ?2, delivered_at = ?3
                    WHERE name = ?4 AND position < ?1
                    """
            ).execute(arguments: [occurrence.seq, earlier.count + 1, now.milliseconds, name])
        case .failed(let reason, let retryAt):
            try db.cachedStatement(
                sql: """
                    UPDATE sync_hook SET attempt_count = attempt_count + 1, next_at = ?2, error = ?3
                    WHERE name = ?4 AND position < ?1
                    """
            ).execute(arguments: [occurrence.seq, retryAt.milliseconds, reason, name])
        case .parked(let reason):
            try db.cachedStatement(
                sql: """
                    INSERT INTO sync_hook_parked (hook, event, attempt_count, reason, parked_at)
                    SELECT name, ?2, attempt_count + 1, ?3, ?4 FROM sync_hook WHERE name = ?5 AND position < ?1
                    """
            ).execute(arguments: [
                occurrence.seq, JSONText.object(members: occurrence.members).text, reason, now.milliseconds, name,
            ])
            try move(name, to: occurrence.seq)
        }
    }

    /// Goes on after this number.
    func move(_ name: String, to position: Int64) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_hook SET position = ?1, attempt_count = 0, next_at = NULL, error = NULL
                WHERE name = ?2 AND position < ?1
                """
        ).execute(arguments: [position, name])
    }

    func setPaused(_ isPaused: Bool, _ name: String) throws {
        try db.cachedStatement(sql: "UPDATE sync_hook SET paused = ? WHERE name = ?")
            .execute(arguments: [isPaused ? 1 : 0, name])
    }

    /// The delivery that is next is tried at once.
    func hurry(_ name: String) throws {
        try db.cachedStatement(sql: "UPDATE sync_hook SET next_at = NULL WHERE name = ?").execute(arguments: [name])
    }

    // MARK: Parked deliveries

    /// Oldest first.
    func parked(_ name: String, limit: Int) throws -> [ParkedDelivery] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM sync_hook_parked WHERE hook = ? ORDER BY id LIMIT ?"),
            arguments: [name, limit]
        ).compactMap(ParkedDelivery.init)
    }

    /// The oldest that someone wants to be tried again; not one that only a later version understands.
    func parkedToRetry(_ name: String) throws -> ParkedDelivery? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT * FROM sync_hook_parked WHERE hook = ? AND wanted = 1 ORDER BY id"),
            arguments: [name])
        while let row = try rows.next() {
            if let parked = ParkedDelivery(row) { return parked }
        }
        return nil
    }

    /// Marks one or all of them to be tried again; returns how many.
    func wantParked(_ name: String, _ id: Int64?) throws -> Int {
        try db.cachedStatement(
            sql: "UPDATE sync_hook_parked SET wanted = 1 WHERE hook = ?1 AND (?2 IS NULL OR id = ?2)"
        ).execute(arguments: [name, id])
        return db.changesCount
    }

    /// Removes one or all of them; returns how many.
    func discardParked(_ name: String, _ id: Int64?) throws -> Int {
        try db.cachedStatement(sql: "DELETE FROM sync_hook_parked WHERE hook = ?1 AND (?2 IS NULL OR id = ?2)")
            .execute(arguments: [name, id])
        return db.changesCount
    }

    /// `problem`: nil if it was delivered.
    func finishParked(_ name: String, _ id: Int64, problem: String?, at now: Timestamp) throws {
        if let problem {
            try db.cachedStatement(
                sql: """
                    UPDATE sync_hook_parked SET wanted = 0, attempt_count = attempt_count + 1, reason = ? WHERE id = ?
                    """
            ).execute(arguments: [problem, id])
        } else {
            guard try discardParked(name, id) > 0 else { return }
            try db.cachedStatement(
                sql: "UPDATE sync_hook SET delivered = delivered + 1, delivered_at = ? WHERE name = ?"
            ).execute(arguments: [now.milliseconds, name])
        }
    }
}

extension HookState {
    fileprivate init(_ row: Row) {
        self.init(
            name: row[0], position: row[1], isPaused: row[2], attempts: row[3],
            nextAt: row.time(4), error: row[5], delivered: row[6], deliveredAt: row.time(7), parked: row[8])
    }
}

extension ParkedDelivery {
    fileprivate init?(_ row: Row) {
        guard let document = try? JSONText(parsing: row["event"] as String),
            let occurrence = HookOccurrence(document)
        else { return nil }
        self.init(
            id: row["id"], occurrence: occurrence, attempts: row["attempt_count"], reason: row["reason"],
            at: Timestamp(milliseconds: row["parked_at"]))
    }
}
