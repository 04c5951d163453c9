internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The rows of `sync_reminder` and the steps from one state to the next, inside the caller's transaction.
struct ReminderTable {
    let records: RecordTransaction

    private var schema: EntitySchema { records.plans.schema }
    private var db: Database { records.db }

    // MARK: Reading

    func reminder(_ row: Row) throws -> Reminder {
        Reminder(row, text: try text(of: row["rule"], entity: row["entity"], key: row["record_key"]))
    }

    func row(_ id: Int64) throws -> Row {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM sync_reminder WHERE id = ? AND withdrawn = 0"), arguments: [id])
        guard let row else {
            throw CacheError.notFound("there is no reminder \(id); that of a record that is done or deleted is gone")
        }
        return row
    }

    /// Filled from the record as it is now.
    private func text(of rule: String, entity: String, key: String) throws -> String {
        guard let entity = schema[entity],
            let record = try RecordRow(table: EntityTable(entity: entity), db: db).load(key)?.document
        else { return "" }
        let text = schema.reminders.first { $0.name == rule }?.text.filled { entity.value(of: $0, in: record)?.plain }
        return text ?? entity.title(of: record)
    }

    // MARK: Steps

    /// Marks a reminder as due; with `isDelivered`, that is also an event for the hook of reminders.
    func fallDue(_ row: Row, isDelivered: Bool, at now: Timestamp) throws {
        try set(row["id"], .due, next: isDelivered ? now : nil, at: now)
    }

    func snooze(_ id: Int64, until: Timestamp, at now: Timestamp) throws {
        let row = try row(id)
        guard row["state"] != Reminder.State.scheduled.rawValue else {
            throw CacheError.conflict("reminder \(id) is not due yet; dismiss it, or change the record")
        }
        try set(id, .snoozed, next: until, at: now)
    }

    func dismiss(_ id: Int64, at now: Timestamp) throws {
        guard try row(id)["state"] != Reminder.State.dismissed.rawValue else { return }
        try set(id, .dismissed, next: nil, at: now)
    }

    // MARK: Deliveries

    /// One that was given up has no time any more.
    private static let isDue = "id = ?1 AND state = 'due' AND (next_at IS NULL OR next_at = ?2)"

    /// Nil if it has changed since the event.
    func due(_ occurrence: HookOccurrence) throws -> Reminder? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM sync_reminder WHERE \(Self.isDue) AND withdrawn = 0"),
            arguments: [occurrence.reminder, occurrence.at.milliseconds]
        ).map(reminder)
    }

    /// `problem`: why an attempt failed; nil if it succeeded. Does nothing if the reminder has changed since the event.
    func finish(_ occurrence: HookOccurrence, problem: String?, at now: Timestamp) throws {
        guard let id = occurrence.reminder else { return }
        try db.cachedStatement(
            sql: "UPDATE sync_reminder SET attempt_count = attempt_count + 1, error = ?3 WHERE \(Self.isDue)"
        ).execute(arguments: [id, occurrence.at.milliseconds, problem])
        if problem == nil, db.changesCount > 0 { try set(id, .delivered, next: nil, at: now) }
    }

    /// The reminder stays due, and only a retry of its parked delivery delivers it.
    func giveUp(_ occurrence: HookOccurrence) throws {
        guard let id = occurrence.reminder else { return }
        try db.cachedStatement(sql: "UPDATE sync_reminder SET next_at = NULL WHERE \(Self.isDue)")
            .execute(arguments: [id, occurrence.at.milliseconds])
    }

    private func set(_ id: Int64, _ state: Reminder.State, next: Timestamp?, at now: Timestamp) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_reminder SET state = ?1, next_at = ?2, error = NULL, stale = 1,
                  delivered_at = iif(?1 = 'delivered', ?3, delivered_at),
                  attempt_count = iif(?1 IN ('due', 'snoozed'), 0, attempt_count)
                WHERE id = ?4
                """
        ).execute(arguments: [state.rawValue, next?.milliseconds, now.milliseconds, id])
        let reminder = try reminder(
            Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM sync_reminder WHERE id = ?"), arguments: [id])
                ?? Row())
        try ChangeLog(records: records, at: now).append(reminder)
    }
}
