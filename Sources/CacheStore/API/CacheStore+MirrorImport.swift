package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Fills an empty cache from a copy in plain files.
///
/// Records become the server's version, which the next sync corrects. Changes are queued again under the idempotency keys
/// that they had, so that one which the server has taken meanwhile is not done twice.
extension CacheStore {
    /// Whether nothing was ever cached or queued here.
    package func isEmpty() throws -> Bool {
        try read { db in
            try
                !(Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM sync_outbox)
                          OR EXISTS (SELECT 1 FROM sync_tally WHERE name GLOB 'rows:*' AND count > 0)
                        """) ?? false)
        }
    }

    /// Adds records of one entity; returns how many. One without a usable key, or whose key is there already, is left out.
    ///
    /// A secret that was sealed with another key is left out of its record.
    package func importRecords(_ records: [JSONText], of entity: String, at now: Timestamp) async throws -> Int {
        let table = try table(entity)
        return try await writer.write { db in
            let rows = MirrorRows(table: table, sealer: sealers[entity], db: db)
            let keys = try records.compactMap { record in try rows.insert(record) }
            try ChangeLog(db: db, at: now).append(.upserted, entity: entity, keys: keys)
            return keys.count
        }
    }

    /// Queues changes as `storedChanges` told of them, after all records are there; returns how many.
    ///
    /// A secret that was sealed with another key is left out.
    package func importChanges(_ changes: [ExportedChange], at now: Timestamp) async throws -> Int {
        try await writer.write { db in
            let own = try changes.map(readable)
            return try QueueImport(context: context(db, at: now), settings: [:]).addUnknown(own).added
        }
    }

    private func readable(_ change: ExportedChange) throws -> ExportedChange {
        let sealer = sealers[change.entity]
        func resealed(_ text: String) throws -> String {
            try sealer.seal(sealer.open(JSONText(parsing: text)).record).text
        }
        var change = change
        change.body = try resealed(change.body)
        change.base = try resealed(change.base)
        change.record = try change.record.map(resealed)
        return change
    }

    /// Lets reminders go on as `storedReminders` told of them, after their records have scheduled them anew.
    package func importReminders(_ reminders: [JSONText]) async throws {
        try await writer.write { db in
            for stored in reminders {
                try db.cachedStatement(
                    sql: """
                        UPDATE sync_reminder SET state = ?, next_at = ?, delivered_at = ?, attempt_count = ?,
                          into_entity = ?, into_key = ?
                        WHERE rule = ? AND record_key = ? AND due_at = ?
                        """
                ).execute(arguments: [
                    stored["state"]?.string ?? Reminder.State.scheduled.rawValue, stored["next_at"]?.integer,
                    stored["delivered_at"]?.integer, stored["attempts"]?.integer ?? 0, stored["into_entity"]?.string,
                    stored["into_key"]?.string, stored["rule"]?.string, stored["record_id"]?.string,
                    stored["due_at"]?.integer,
                ])
            }
        }
    }
}

/// Writes records of one entity as if the server had said them.
private struct MirrorRows {
    let table: EntityTable
    let sealer: RecordSealer
    let db: Database

    /// Returns the record's key; nil where it was left out.
    func insert(_ record: JSONText) throws -> String? {
        let row = RecordRow(table: table, db: db)
        guard record.kind == .object, let key = record[table.entity.key]?.plain, (1...500).contains(key.utf8.count),
            try !row.exists(key)
        else { return nil }
        try row.insert(key)
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _remote = ? WHERE _key = ?")
            .execute(arguments: [sealer.seal(sealer.open(record).record).text, key])
        return key
    }
}
