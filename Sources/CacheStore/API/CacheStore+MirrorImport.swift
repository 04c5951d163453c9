package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Fills an empty cache from a mirror in plain files.
///
/// Records become the server's version, which the next sync corrects. Changes are queued under their old idempotency
/// keys, so that a change which the server has accepted meanwhile is not applied twice.
extension CacheStore {
    /// Whether the cache has neither records nor queued changes.
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

    /// Adds records of one entity; returns how many. Skips a record without a usable key, and one whose key already
    /// exists.
    ///
    /// Removes secrets that were sealed with another key.
    package func importRecords(_ records: [JSONText], of entity: String, at now: Timestamp) async throws -> Int {
        let table = try table(entity)
        return try await writer.write { db in
            let rows = MirrorRows(table: table, sealer: sealers[entity], db: db)
            let keys = try records.compactMap { record in try rows.insert(record) }
            try ChangeLog(db: db, at: now).append(.upserted, entity: entity, keys: keys)
            return keys.count
        }
    }

    /// Queues changes as returned by `storedChanges`; call it after all records are imported. Returns how many.
    ///
    /// Removes secrets that were sealed with another key.
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

    /// Restores the state of reminders as returned by `storedReminders`, after their records have scheduled them again.
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

/// Writes records of one entity as if they came from the server.
private struct MirrorRows {
    let table: EntityTable
    let sealer: RecordSealer
    let db: Database

    /// Returns the record's key; nil if the record was skipped.
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
