package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// What a copy of the cache in plain files contains: records as readers see them but for what is computed on
/// reading, with secret and sealed values as they are stored, and the queue.
extension CacheStore {
    /// The entities that have changed since `position` of the change log, and its end; nil for all of them when the log
    /// does not say.
    package func changedEntities(since position: Int64) throws -> (entities: Set<String>?, position: Int64) {
        try snapshot { db in
            let end = try Self.logEnd(db)
            guard try position >= Self.logFloor(db) else { return (nil, end) }
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: "SELECT DISTINCT entity, kind FROM sync_change_log WHERE seq > ? AND kind <> 'hook'"),
                arguments: [position])
            // A record's new key changes the records that refer to it.
            guard !rows.contains(where: { $0["kind"] == ChangeLogKind.renamed.rawValue }) else { return (nil, end) }
            return (Set(rows.map { $0["entity"] as String }), end)
        }
    }

    /// Calls `body` with each record of an entity, in batches, so that memory does not grow with their number or size.
    /// Changes made meanwhile are in the change log.
    package func forEachStoredRecord(of entity: String, _ body: (String) throws -> Void) throws {
        let table = try table(entity)
        var last: Int64 = 0
        while true {
            let records = try storedRecords(of: table, after: last)
            for record in records { try body(record.text) }
            guard let end = records.last else { return }
            last = end.pk
        }
    }

    private func storedRecords(of table: EntityTable, after pk: Int64) throws -> [(pk: Int64, text: String)] {
        try read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT _pk, \(EntityTable.document) FROM \(table.name)
                        WHERE _pk > ? AND _deleted = 0 ORDER BY _pk
                        """),
                arguments: [pk])
            var records: [(pk: Int64, text: String)] = []
            var size = PageSize(limit: Self.batchSize)
            while let row = try rows.next() {
                // A backup that another program has changed can have a record without one.
                guard let text: String = row[1] else { continue }
                records.append((row[0], text))
                if size.ends(with: text.utf8.count) { break }
            }
            return records
        }
    }

    /// Calls `body` with each change of the queue, oldest first, with everything needed to queue it again under the same
    /// key; in batches, so that memory does not grow with the queue. Changes made meanwhile are in the change log.
    package func forEachStoredChange(_ body: (ExportedChange) throws -> Void) throws {
        var last = Int64.min
        while true {
            let changes = try storedChanges(after: last)
            for change in changes { try body(change) }
            guard let end = changes.last else { return }
            last = end.id
        }
    }

    private func storedChanges(after id: Int64) throws -> [ExportedChange] {
        try snapshot { db in
            let found = try ExportedChange.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT change.*, content.size AS content_size, content.type AS content_type
                        FROM sync_outbox AS change LEFT JOIN sync_content AS content ON content.sha256 = change.content
                        WHERE change.id > ? ORDER BY change.id
                        """),
                arguments: [id])
            var changes: [ExportedChange] = []
            var size = PageSize(limit: Self.batchSize)
            while var change = try found.next() {
                change.record = try schema[change.entity].flatMap { entity in
                    try RecordRow(table: EntityTable(entity: entity), db: db).remote(of: change.recordKey)?.text
                }
                let texts = [change.body, change.base, change.edited ?? "", change.record ?? ""]
                changes.append(change)
                if size.ends(with: texts.reduce(0) { $0 + $1.utf8.count }) { break }
            }
            return changes
        }
    }

    private static let batchSize = 200

    /// The reminders whose state does not follow from their records: outcomes, and the records that represent them.
    package func storedReminders() throws -> [JSONText] {
        try read { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM sync_reminder WHERE state <> 'scheduled' OR into_key IS NOT NULL ORDER BY id"
            ).map { row in
                .object([
                    "rule": .string(row["rule"] as String), "record_id": .string(row["record_key"] as String),
                    "due_at": .integer(row["due_at"] as Int), "state": .string(row["state"] as String),
                    "next_at": .integer(row["next_at"] as Int?), "delivered_at": .integer(row["delivered_at"] as Int?),
                    "attempts": .integer(row["attempt_count"] as Int),
                    "into_entity": .string(row["into_entity"] as String?),
                    "into_key": .string(row["into_key"] as String?),
                ])
            }
        }
    }
}

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

    /// Adds records of one entity; returns how many. Skips a record without a usable key, one whose key already exists, and
    /// one that would take minutes to compare (`MarkRun`).
    ///
    /// Removes secrets that were sealed with another key.
    package func importRecords(_ records: [JSONText], of entity: String, at now: Timestamp) async throws -> Int {
        let table = try table(entity)
        return try await change(at: now) { [self] context in
            let rows = MirrorRows(writer: context.writer(table), sealer: sealers[entity])
            let keys = try records.compactMap { record in try rows.insert(record) }
            try context.log.append(.upserted, entity: entity, keys: keys)
            return keys.count
        }
    }

    /// Queues changes as given by `forEachStoredChange`; call it after all records are imported. Returns how many.
    ///
    /// Removes secrets that were sealed with another key. Throws `.invalid` for a value that no queue has.
    package func importChanges(_ changes: [ExportedChange], at now: Timestamp) async throws -> Int {
        for change in changes {
            guard let problem = change.problem else { continue }
            throw CacheError.invalid([FieldProblem(field: "\(change.entity)/\(change.recordKey)", message: problem)])
        }
        return try await change(at: now) { [self] context in
            let own = try changes.map(readable)
            return try QueueImport(context: context, settings: [:]).addUnknown(own).added
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
                // One in a state that no reminder has stays as its record has scheduled it.
                guard let state = stored["state"]?.string.flatMap(Reminder.State.init) else { continue }
                try db.cachedStatement(
                    sql: """
                        UPDATE sync_reminder SET state = ?, next_at = ?, delivered_at = ?, attempt_count = ?,
                          into_entity = ?, into_key = ?
                        WHERE rule = ? AND record_key = ? AND due_at = ?
                        """
                ).execute(arguments: [
                    state.rawValue, Self.number(stored["next_at"]),
                    Self.number(stored["delivered_at"]), max(0, Self.number(stored["attempts"]) ?? 0),
                    stored["into_entity"]?.string, stored["into_key"]?.string, stored["rule"]?.string,
                    stored["record_id"]?.string, Self.number(stored["due_at"]),
                ])
            }
        }
    }

    /// Nil for a number that no reminder has: one more than the greatest could not be stored after the next attempt.
    private static func number(_ value: JSONText?) -> Int? {
        value?.integer.flatMap { (-(1 << 53)...(1 << 53)).contains($0) ? $0 : nil }
    }
}

/// Writes records of one entity as if they came from the server.
private struct MirrorRows {
    let writer: RecordWriter
    let sealer: RecordSealer

    /// Returns the record's key; nil if the record was skipped.
    func insert(_ record: JSONText) throws -> String? {
        guard record.kind == .object, MarkRun.areShort(inJSON: record.bytes, upTo: MarkRun.longestStored),
            let key = record[writer.table.entity.key].flatMap(Entity.key), try !writer.row.exists(key)
        else { return nil }
        try writer.insert(key, remote: sealer.seal(sealer.open(record).record))
        return key
    }
}
