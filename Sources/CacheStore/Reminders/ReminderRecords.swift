internal import EntitySchema
internal import GRDB
internal import JSONText

/// Updates the records that represent reminders, inside the caller's transaction, and deletes reminders whose record is
/// gone.
struct ReminderRecords {
    let context: WriteContext

    private var schema: EntitySchema { context.schema }
    private var db: Database { context.db }

    private func writer(_ table: EntityTable) -> ChangeWriter { ChangeWriter(table: table, context: context) }

    private static let batch = 200

    /// Returns true if there may be more to do.
    func refresh() throws -> Bool {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT * FROM sync_reminder WHERE stale = 1 ORDER BY id LIMIT \(Self.batch)"))
        for row in rows { try refresh(row) }
        return rows.count == Self.batch
    }

    private func refresh(_ row: Row) throws {
        let id: Int64 = row["id"]
        let rule = schema.reminders.first { $0.name == row["rule"] as String }
        let isWithdrawn: Bool = row["withdrawn"]
        let into = isWithdrawn ? nil : rule?.into
        if let entity: String = row["into_entity"], let key: String = row["into_key"], entity != into?.entity {
            if let table = schema[entity].map(EntityTable.init), try RecordRow(table: table, db: db).exists(key) {
                try DeletionWriter(writer(table)).delete(key)
            }
            try remember(nil, nil, of: id)
        }
        if let into, let table = schema[into.entity].map(EntityTable.init) { try write(row, into, table) }
        let record = try schema[row["entity"] as String].map { entity in
            try RecordRow(table: EntityTable(entity: entity), db: db).exists(row["record_key"])
        }
        let isForgotten = isWithdrawn && (rule == nil || record != true)
        try db.cachedStatement(
            sql: isForgotten
                ? "DELETE FROM sync_reminder WHERE id = ?" : "UPDATE sync_reminder SET stale = 0 WHERE id = ?"
        ).execute(arguments: [id])
    }

    /// Creates the record again if it was deleted.
    private func write(_ row: Row, _ into: ReminderRule.Into, _ table: EntityTable) throws {
        let reminder = try ReminderTable(records: context.records).reminder(row)
        let members = into.fields.sorted { $0.key < $1.key }.map { field, part in
            (key: field, value: Self.value(of: part, reminder))
        }
        let body = JSONText.object(members: members)
        if row["into_entity"] as String? == into.entity, let key: String = row["into_key"],
            try RecordRow(table: table, db: db).exists(key)
        {
            return try writer(table).update(key, body: body)
        }
        try remember(into.entity, writer(table).create(body), of: reminder.id)
    }

    private func remember(_ entity: String?, _ key: String?, of id: Int64) throws {
        try db.cachedStatement(sql: "UPDATE sync_reminder SET into_entity = ?, into_key = ? WHERE id = ?")
            .execute(arguments: [entity, key, id])
    }

    private static func value(of part: ReminderRule.Part, _ reminder: Reminder) -> JSONText {
        switch part {
        case .record: .string(reminder.key)
        case .rule: .string(reminder.rule)
        case .text: .string(reminder.text)
        case .state: .string(reminder.state.rawValue)
        case .dueAt: .string((reminder.snoozedUntil ?? reminder.dueAt).description)
        case .isScheduled: .boolean(reminder.state == .scheduled || reminder.state == .snoozed)
        case .isDelivered: .boolean(reminder.state == .delivered)
        }
    }
}
