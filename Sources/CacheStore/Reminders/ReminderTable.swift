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

    /// Marks a reminder as due; with `isDelivered`, it is also queued for delivery.
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

    /// Records that a delivery begins, and when to retry if it never reports back. Nil if there is nothing to deliver
    /// any more.
    func beginDelivery(_ id: Int64, retryAt: Timestamp) throws -> Reminder? {
        try db.cachedStatement(
            sql: """
                UPDATE sync_reminder SET attempt_count = attempt_count + 1, next_at = ?
                WHERE id = ? AND state = 'due' AND withdrawn = 0 AND next_at IS NOT NULL
                """
        ).execute(arguments: [retryAt.milliseconds, id])
        guard db.changesCount > 0 else { return nil }
        return try reminder(row(id))
    }

    /// `begun` is what `beginDelivery` returned; does nothing if the reminder has changed since.
    func settleDelivery(of begun: Reminder, _ outcome: ReminderOutcome, at now: Timestamp) throws {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT * FROM sync_reminder
                    WHERE id = ? AND state = 'due' AND due_at = ? AND attempt_count = ?
                    """),
            arguments: [begun.id, begun.dueAt.milliseconds, begun.attempts])
        guard row != nil else { return }
        switch outcome {
        case .delivered: try set(begun.id, .delivered, next: nil, at: now)
        case .failed(let reason, let retryAt):
            try db.cachedStatement(sql: "UPDATE sync_reminder SET error = ?, next_at = ? WHERE id = ?")
                .execute(arguments: [reason, retryAt?.milliseconds, begun.id])
        }
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
