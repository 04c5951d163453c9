internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// The SQL that keeps one rule's reminders in step with the records. `RecordWriter` runs it for each record that it
/// writes, `ReminderAdapter` for all records when the rule has changed.
struct ReminderSchedule: Sendable {
    let rule: ReminderRule
    let table: EntityTable

    /// The fields that decide about the reminder, and those that a record which represents it shows.
    var fields: [String] {
        [rule.at] + rule.conditions.map(\.field) + (rule.into == nil ? [] : rule.text.placeholders)
    }

    /// Identical text means identical reminders.
    var definition: String {
        let into = rule.into.map { into in
            [into.entity] + into.fields.map { "\($0.key) \($0.value.rawValue)" }.sorted()
        }
        return ([scheduled, withdrawn, "\(rule.text)"] + (into ?? [])).joined(separator: "\n")
    }

    // MARK: One record

    /// Schedules or withdraws the reminder of the record in row `pk`, as the row is now.
    func note(_ pk: Int64, key: String, _ db: Database) throws {
        try db.cachedStatement(sql: withdrawn).execute(arguments: [pk, key])
        try db.cachedStatement(sql: scheduled).execute(arguments: [pk])
    }

    /// A record that gets another key keeps its reminder, replacing any reminder of that key.
    func noteRenamed(from old: String, to new: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE OR REPLACE sync_reminder SET record_key = ?2 WHERE rule = '\(rule.name)' AND record_key = ?1"
        ).execute(arguments: [old, new])
    }

    func noteDeleted(_ key: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE sync_reminder SET withdrawn = 1, stale = 1 WHERE rule = '\(rule.name)' AND record_key = ?"
        ).execute(arguments: [key])
    }

    private var scheduled: String { schedule("_pk = ?1 AND ", onConflict: moved) }

    private var withdrawn: String {
        """
        UPDATE sync_reminder SET withdrawn = 1, stale = 1
        WHERE rule = '\(rule.name)' AND record_key = ?2 AND withdrawn = 0
          AND NOT EXISTS (SELECT 1 FROM \(table.name) WHERE _pk = ?1 AND \(isWanted))
        """
    }

    // MARK: All records

    /// Schedules the reminders of all existing records and withdraws the rest. Delivered and dismissed reminders stay
    /// as they are.
    var reconcile: [String] {
        let kept = """
            SET due_at = excluded.due_at, next_at = iif(state = 'scheduled', excluded.next_at, next_at),
              state = iif(\(Self.isPendingAgain), 'scheduled', state), withdrawn = 0, stale = 1
            """
        return [
            schedule("", onConflict: kept),
            """
            UPDATE sync_reminder SET withdrawn = 1, stale = 1
            WHERE rule = '\(rule.name)'
              AND record_key NOT IN (SELECT _key FROM \(table.name) WHERE \(isWanted))
            """,
        ]
    }

    // MARK: Checking

    /// The keys of the records that have no reminder but should, or one for another time.
    var missing: String {
        """
        SELECT _key FROM \(table.name) WHERE \(isWanted) AND NOT EXISTS (
          SELECT 1 FROM sync_reminder
          WHERE rule = '\(rule.name)' AND record_key = _key AND withdrawn = 0 AND due_at = \(due))
        """
    }

    /// The keys of the records that have a reminder but should not.
    var unwanted: String {
        """
        SELECT record_key FROM sync_reminder WHERE rule = '\(rule.name)' AND withdrawn = 0 AND NOT EXISTS (
          SELECT 1 FROM \(table.name) WHERE _key = sync_reminder.record_key AND \(isWanted))
        """
    }

    // MARK: Parts

    private var due: String { "\(time) - \(rule.before.milliseconds)" }

    private func schedule(_ condition: String, onConflict update: String) -> String {
        """
        INSERT INTO sync_reminder (rule, entity, record_key, due_at, next_at)
          SELECT '\(rule.name)', '\(rule.entity)', _key, \(due), \(due) FROM \(table.name)
          WHERE \(condition)\(isWanted)
          ON CONFLICT (rule, record_key) DO UPDATE \(update)
        """
    }

    /// A reminder that comes back before it was delivered: its hook may be past the event.
    private static let isPendingAgain = "withdrawn = 1 AND state = 'due' AND next_at IS NOT NULL"

    /// If the record's time has moved, the reminder starts over; if the record only matches again, it continues. If a
    /// record represents the reminder, its text may have changed.
    private var moved: String {
        let moved = "due_at <> excluded.due_at"
        return """
            SET due_at = excluded.due_at, withdrawn = 0, stale = 1,
                state = iif(\(moved) OR \(Self.isPendingAgain), 'scheduled', state),
                next_at = iif(\(moved), excluded.next_at, next_at),
                attempt_count = iif(\(moved), 0, attempt_count),
                delivered_at = iif(\(moved), NULL, delivered_at), error = iif(\(moved), NULL, error)
              WHERE \(rule.into == nil ? "\(moved) OR withdrawn = 1" : "true")
            """
    }

    /// The field's text as the record has it: after normalizing, a date would look like midnight.
    private var time: String {
        let value = table.entity[field: rule.at].map { table.value(of: $0, by: "->>", in: EntityTable.document) }
        return "reminder_time(\(value ?? "NULL"))"
    }

    /// True for a record that has a reminder now.
    var isWanted: String {
        let conditions = rule.conditions.map { condition -> String in
            let column = "CAST(\(table.plain(for: condition.field)) AS TEXT)"
            let values = condition.values.map { table.columnText($0, of: condition.field).quoted(by: "'") }
                .joined(separator: ", ")
            return condition.excluded
                ? "coalesce(\(column) NOT IN (\(values)), true)" : "coalesce(\(column) IN (\(values)), false)"
        }
        return (["_deleted = 0"] + conditions + ["\(time) IS NOT NULL"]).joined(separator: " AND ")
    }
}
