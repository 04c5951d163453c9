internal import EntitySchema
internal import SQLiteStore

/// The SQL that keeps one rule's reminders in step with the records: triggers run in every transaction that changes a
/// record, whatever changes it.
struct ReminderTriggers {
    let rule: ReminderRule
    let table: EntityTable

    /// Identical text means identical reminders: the triggers with the columns and texts that they use.
    var definition: String {
        let fields = [rule.at] + rule.conditions.map(\.field)
        let columns = table.columns.filter { fields.contains($0.name) }.map(\.definition)
        let into = rule.into.map { into in
            [into.entity] + into.fields.map { "\($0.key) \($0.value.rawValue)" }.sorted()
        }
        return ([create, "\(rule.text)"] + columns + (into ?? [])).joined(separator: "\n")
    }

    var create: String { [inserted, changed, deleted].joined(separator: ";\n") + ";" }

    /// Matches the name of every reminder trigger in `sqlite_master`.
    static let namePattern = "sync\\_reminder\\_%"

    private func name(_ event: String) -> String { "\"sync_reminder_\(rule.name)_\(event)\"" }

    // MARK: Triggers

    private var inserted: String {
        """
        CREATE TRIGGER \(name("inserted")) AFTER INSERT ON \(table.name) BEGIN
          \(schedule(from: "(SELECT 1)", "NEW.", onConflict: moved));
        END
        """
    }

    /// A record that gets another key keeps its reminder, replacing any reminder of that key.
    private var changed: String {
        """
        CREATE TRIGGER \(name("changed"))
        AFTER UPDATE OF _key, _remote, _document, _deleted ON \(table.name) BEGIN
          UPDATE OR REPLACE sync_reminder SET record_key = NEW._key
          WHERE rule = '\(rule.name)' AND record_key = OLD._key AND OLD._key <> NEW._key;
          UPDATE sync_reminder SET withdrawn = 1, stale = 1
          WHERE rule = '\(rule.name)' AND record_key = NEW._key AND withdrawn = 0 AND NOT (\(isWanted("NEW.")));
          \(schedule(from: "(SELECT 1)", "NEW.", onConflict: moved));
        END
        """
    }

    private var deleted: String {
        """
        CREATE TRIGGER \(name("deleted")) AFTER DELETE ON \(table.name) BEGIN
          UPDATE sync_reminder SET withdrawn = 1, stale = 1
          WHERE rule = '\(rule.name)' AND record_key = OLD._key;
        END
        """
    }

    // MARK: All records

    /// Schedules the reminders of all existing records and withdraws the rest. Delivered and dismissed reminders stay
    /// as they are.
    var reconcile: [String] {
        let kept = """
            SET due_at = excluded.due_at, next_at = iif(state = 'scheduled', excluded.next_at, next_at),
              withdrawn = 0, stale = 1
            """
        return [
            schedule(from: table.name, "", onConflict: kept),
            """
            UPDATE sync_reminder SET withdrawn = 1, stale = 1
            WHERE rule = '\(rule.name)'
              AND record_key NOT IN (SELECT _key FROM \(table.name) WHERE \(isWanted("")))
            """,
        ]
    }

    // MARK: Parts

    private func schedule(from source: String, _ row: String, onConflict update: String) -> String {
        let due = "\(time(row)) - \(rule.before.milliseconds)"
        return """
            INSERT INTO sync_reminder (rule, entity, record_key, due_at, next_at)
              SELECT '\(rule.name)', '\(rule.entity)', \(row)_key, \(due), \(due) FROM \(source)
              WHERE \(isWanted(row))
              ON CONFLICT (rule, record_key) DO UPDATE \(update)
            """
    }

    /// If the record's time has moved, the reminder starts over; if the record only matches again, it continues. If a
    /// record represents the reminder, its text may have changed.
    private var moved: String {
        let moved = "due_at <> excluded.due_at"
        return """
            SET due_at = excluded.due_at, withdrawn = 0, stale = 1,
                state = iif(\(moved), 'scheduled', state), next_at = iif(\(moved), excluded.next_at, next_at),
                attempt_count = iif(\(moved), 0, attempt_count),
                delivered_at = iif(\(moved), NULL, delivered_at), error = iif(\(moved), NULL, error)
              WHERE \(rule.into == nil ? "\(moved) OR withdrawn = 1" : "true")
            """
    }

    /// The field's text as the record has it: after normalizing, a date would look like midnight.
    private func time(_ row: String) -> String {
        let value = table.entity[field: rule.at].map {
            table.value(of: $0, by: "->>", in: "coalesce(\(row)_document, \(row)_remote)")
        }
        return "reminder_time(\(value ?? "NULL"))"
    }

    private func isWanted(_ row: String) -> String {
        let conditions = rule.conditions.map { condition -> String in
            let column = "CAST(\(row)\(table.sql(for: condition.field)) AS TEXT)"
            let isBoolean = table.entity[field: condition.field]?.kind == .boolean
            let values = condition.values.map { isBoolean ? ($0 == "true" ? "1" : "0") : $0 }
                .map { $0.quoted(by: "'") }.joined(separator: ", ")
            return condition.excluded
                ? "coalesce(\(column) NOT IN (\(values)), true)" : "coalesce(\(column) IN (\(values)), false)"
        }
        return (["\(row)_deleted = 0"] + conditions + ["\(time(row)) IS NOT NULL"]).joined(separator: " AND ")
    }
}
