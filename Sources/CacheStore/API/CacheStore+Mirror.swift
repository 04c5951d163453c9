internal import EntitySchema
internal import GRDB
package import JSONText

/// What a copy of the cache in plain files is made of: records as readers see them, their secrets sealed as they are
/// stored, and beside them the queue.
extension CacheStore {
    /// Which entities have changed since the change log stood at `position`, and where it stands now; nil for all of them,
    /// where the log does not tell.
    package func changedEntities(since position: Int64) throws -> (entities: Set<String>?, position: Int64) {
        try snapshot { db in
            let end = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM sync_change_log")) ?? 0
            guard try position >= Self.logFloor(db) else { return (nil, end) }
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT DISTINCT entity, kind FROM sync_change_log WHERE seq > ?"),
                arguments: [position])
            // Another key of a record changes what refers to it.
            guard !rows.contains(where: { $0["kind"] == ChangeLogKind.renamed.rawValue }) else { return (nil, end) }
            return (Set(rows.map { $0["entity"] as String }), end)
        }
    }

    /// Calls `body` with each record of an entity, a batch at a time, so that it costs the same memory whatever their number.
    /// What changes meanwhile is in the change log.
    package func forEachStoredRecord(of entity: String, _ body: (String) throws -> Void) throws {
        let table = try table(entity)
        var last: Int64 = 0
        while true {
            let rows = try read { db in
                try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT _pk, \(EntityTable.document) FROM \(table.name)
                            WHERE _pk > ? AND _deleted = 0 ORDER BY _pk LIMIT 200
                            """),
                    arguments: [last])
            }
            for row in rows { try body(row[1]) }
            guard let end = rows.last else { return }
            last = end[0]
        }
    }

    /// The queue, oldest first: of each change all that it takes to queue it again under the same key.
    package func storedChanges() throws -> [ExportedChange] {
        try snapshot { db in
            try ExportedChange.fetchAll(
                db,
                sql: """
                    SELECT change.*, content.size AS content_size, content.type AS content_type
                    FROM sync_outbox AS change LEFT JOIN sync_content AS content ON content.sha256 = change.content
                    ORDER BY id
                    """
            ).map { change in
                var change = change
                change.record = try schema[change.entity].flatMap { entity in
                    try RecordRow(table: EntityTable(entity: entity), db: db).remote(of: change.recordKey)?.text
                }
                return change
            }
        }
    }

    /// The reminders of which there is more to know than their records tell: what became of them, and what stands for them.
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
