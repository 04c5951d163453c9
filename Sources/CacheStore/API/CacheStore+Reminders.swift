package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Reminders: the list, and marking those that are due. A hook delivers them (`HookRule.reminders`).
extension CacheStore {
    /// In the order of their times, after the place that the last page ended with.
    package func reminders(
        in states: [Reminder.State], after place: ReminderPlace?, limit: Int
    ) throws -> (reminders: [Reminder], next: ReminderPlace?) {
        try snapshot { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM sync_reminder
                        WHERE withdrawn = 0 AND (due_at, id) > (?, ?) AND state IN (SELECT value FROM json_each(?))
                        ORDER BY due_at, id LIMIT ?
                        """),
                arguments: [
                    place?.dueAt.milliseconds ?? .min, place?.id ?? 0,
                    JSONText.array(of: states.map(\.rawValue)).text, limit + 1,
                ])
            let table = ReminderTable(records: RecordTransaction(db, plans))
            var reminders: [Reminder] = []
            var size = PageSize(limit: limit)
            for row in rows {
                let reminder = try table.reminder(row)
                reminders.append(reminder)
                guard size.ends(with: reminder.text.utf8.count) else { continue }
                let next = ReminderPlace(dueAt: reminder.dueAt, id: reminder.id)
                return (reminders, reminders.count < rows.count ? next : nil)
            }
            return (reminders, nil)
        }
    }

    package func reminder(_ id: Int64) throws -> Reminder {
        try snapshot { db in
            let table = ReminderTable(records: RecordTransaction(db, plans))
            return try table.reminder(table.row(id))
        }
    }

    // MARK: Keeping them

    /// When a reminder next needs work: now if records must be updated; nil if never.
    package func nextReminder() throws -> Timestamp? {
        try read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM sync_reminder WHERE stale = 1),
                          (SELECT min(next_at) FROM sync_reminder
                            WHERE withdrawn = 0 AND next_at IS NOT NULL AND state IN ('scheduled', 'snoozed'))
                        """))
            guard let row else { return nil }
            if row[0] { return Timestamp(milliseconds: 0) }
            return row.time(1)
        }
    }

    /// Marks reminders as due, and updates the records that represent them. A reminder that fell due before `oldest` is
    /// not delivered, nor one before `handedOver`, which another daemon has delivered, unless it was snoozed here. Without
    /// `oldest` none is.
    ///
    /// One transaction of bounded size; returns whether there may be more to do.
    package func keepReminders(
        deliveringAfter oldest: Timestamp?, handedOver: Timestamp? = nil, at now: Timestamp
    ) async throws -> Bool {
        let batch = 200
        return try await write(at: now) { transaction in
            let db = transaction.db
            let table = ReminderTable(records: transaction.context.records)
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM sync_reminder
                        WHERE withdrawn = 0 AND next_at <= ? AND state IN ('scheduled', 'snoozed')
                        ORDER BY next_at LIMIT ?
                        """),
                arguments: [now.milliseconds, batch])
            for row in rows {
                let time: Int64 = row["next_at"]
                let isRecent = oldest.map { time > $0.milliseconds } ?? false
                let isOpen = handedOver.map { time > $0.milliseconds } ?? true
                let isSnoozed = row["state"] == Reminder.State.snoozed.rawValue
                try table.fallDue(row, isDelivered: isRecent && (isOpen || isSnoozed), at: now)
            }
            let hasMore = try transaction.reminderRecords.refresh()
            return hasMore || rows.count == batch
        }
    }
}

/// Where a page of reminders ended.
package struct ReminderPlace: Sendable, Equatable {
    package var dueAt: Timestamp
    package var id: Int64

    package init(dueAt: Timestamp, id: Int64) {
        self.dueAt = dueAt
        self.id = id
    }
}

/// A user's decisions about a reminder, each stored and logged at once.
extension LocalTransaction {
    /// Throws `.notFound` when there is no such reminder any more.
    package func dismissReminder(_ id: Int64) throws -> Reminder {
        try reminders.dismiss(id, at: now)
        return try reminders.reminder(reminders.row(id))
    }

    /// Throws `.conflict` before the reminder is due.
    package func snoozeReminder(_ id: Int64, for duration: Duration) throws -> Reminder {
        try reminders.snooze(id, until: now + duration, at: now)
        return try reminders.reminder(reminders.row(id))
    }

    private var reminders: ReminderTable { ReminderTable(records: context.records) }
}
