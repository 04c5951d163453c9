internal import EntitySchema
internal import GRDB
internal import JSONText

/// Adapts the reminders to the schema's rules, in the transaction that opens the cache; idempotent.
struct ReminderAdapter {
    private static let setting = "reminders"

    let schema: EntitySchema
    let days: ReminderDays
    let db: Database

    var rules: [ReminderSchedule] {
        schema.reminders.compactMap { rule in
            schema[rule.entity].map { ReminderSchedule(rule: rule, table: EntityTable(entity: $0)) }
        }
    }

    private var definition: String { rules.map { "\($0.definition)\n\(days.name)" }.joined(separator: "\n") }

    func isUpToDate() throws -> Bool { try SettingTable(db: db)[Self.setting] ?? "" == definition }

    /// Schedules and withdraws the reminders of all records when the rules have changed. Call this after the entities'
    /// tables are migrated.
    func adapt() throws {
        guard try !isUpToDate() else { return }
        try db.execute(
            sql: """
                UPDATE sync_reminder SET withdrawn = 1, stale = 1
                WHERE rule NOT IN (SELECT value FROM json_each(?))
                """,
            arguments: [JSONText.array(of: schema.reminders.map(\.name)).text])
        for rule in rules {
            for sql in rule.reconcile { try db.execute(sql: sql) }
        }
        try SettingTable(db: db).set(Self.setting, to: definition)
    }
}
