internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Local keys of records that the upstream has given another key; they keep working until another record has the key.
enum KeyAlias {
    static func current(of key: String, _ entity: String, _ db: Database) throws -> String {
        let current = try String.fetchOne(
            db.cachedStatement(sql: "SELECT record_key FROM sync_alias WHERE entity = ? AND old_key = ?"),
            arguments: [entity, key])
        guard let current, try !isTaken(key, entity, db) else { return key }
        return current
    }

    /// The same in a transaction that writes. If another record has the key itself, the key names that record from now on, even
    /// after its deletion.
    static func current(of key: String, _ entity: String, in records: RecordTransaction) throws -> String {
        guard try records.mayHaveAliases() else { return key }
        let current = try records.with(records.plans.queue.alias) { statement in
            try statement.bind(entity, to: 1)
            try statement.bind(key, to: 2)
            return try statement.step() ? statement.text(0) : nil
        }
        guard let current else { return key }
        guard try isTaken(key, entity, records.db) else { return current }
        try end(key, entity, records.db)
        return key
    }

    /// Whether a record has the key itself, as when another one was given the former slug of the first.
    private static func isTaken(_ key: String, _ entity: String, _ db: Database) throws -> Bool {
        try RecordRow.exists(key, in: EntityTable.name(of: entity), db)
    }

    /// Stops the key from naming a record that had it before.
    static func end(_ key: String, _ entity: String, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_alias WHERE entity = ? AND old_key = ?")
            .execute(arguments: [entity, key])
    }

    /// Every key that the record has had, the current one first.
    static func all(of key: String, _ entity: String, _ db: Database) throws -> [String] {
        let current = try current(of: key, entity, db)
        return try [current]
            + String.fetchAll(
                db.cachedStatement(sql: "SELECT old_key FROM sync_alias WHERE entity = ? AND record_key = ?"),
                arguments: [entity, current])
    }

    /// Renames a record everywhere: its row, its queue, and every reference to it, queued ones included.
    ///
    /// Part of the transaction that acknowledges the change `id` that gave it the key, so readers never see a mix of old and
    /// new keys. The log names every record that readers see changed.
    ///
    /// `given` is the new key as the server writes it, a number or a text; references to the record are sent the same way.
    /// Returns the log's position of the new key.
    @discardableResult
    static func rename(
        _ table: EntityTable, from old: String, to given: JSONText, by id: Int64, _ log: ChangeLog
    ) throws -> Int64 {
        let (writer, db) = (log.records.writer(table), log.records.db)
        let new = given.plain
        // A pull may have brought the upstream's version under its own key before the answer arrived.
        try writer.delete(new)
        try writer.rename(old, to: new)
        try end(new, table.entity.name, db)
        try db.execute(
            sql: "UPDATE sync_outbox SET record_key = ? WHERE entity = ? AND record_key = ?",
            arguments: [new, table.entity.name, old])
        if table.entity.orderWithin == table.entity.key { try renameGroup(of: table.entity, from: old, to: new, db) }
        try db.execute(
            sql: "UPDATE sync_alias SET record_key = ? WHERE entity = ? AND record_key = ?",
            arguments: [new, table.entity.name, old])
        try db.execute(
            sql: "INSERT INTO sync_alias VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record_key = excluded.record_key",
            arguments: [table.entity.name, old, new])
        log.records.noteAlias()
        for name in ["sync_settling", "sync_view"] {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET record_key = ? WHERE entity = ? AND record_key = ?",
                arguments: [new, table.entity.name, old])
        }
        try setInBodies(of: table.entity, field: table.entity.key, old, given, db)
        let position = try log.append(
            .renamed, change: id, entity: table.entity.name, key: new, detail: [("old_id", .string(old))])
        for entity in log.records.plans.schema.entities {
            let changed = try renameReferences(in: entity, to: table.entity, old, given, by: id, log)
            try log.append(.upserted, entity: entity.name, keys: changed.sorted().map(\.text))
        }
        return position
    }

    /// Returns the keys of the records whose references were changed.
    private static func renameReferences(
        in entity: Entity, to target: Entity, _ old: String, _ given: JSONText, by id: Int64, _ log: ChangeLog
    ) throws -> Set<ExactText> {
        let db = log.records.db
        let new = given.plain
        let writer = log.records.writer(EntityTable(entity: entity))
        var changed: Set<ExactText> = []
        for field in entity.fields where field.kind == .reference(to: target.name) {
            // A record whose key is a reference to the renamed record is renamed with it.
            if field.name == entity.key, entity.name != target.name, try writer.row.exists(old) {
                try rename(writer.table, from: old, to: given, by: id, log)
                try writer.rebuildDocument(over: new)
            }
            let queued = try setInBodies(of: entity, field: field.name, old, given, db)
            if entity.orderWithin == field.name { try renameGroup(of: entity, from: old, to: new, db) }
            if entity.isLocal {
                changed.formUnion(try renameReferences(by: writer, field: field.name, old, given).map(\.exact))
            }
            for key in queued { try writer.rebuildDocument(over: key) }
            changed.formUnion(queued.map(\.exact))
        }
        return changed
    }

    private static func renameGroup(of entity: Entity, from old: String, to new: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE sync_outbox SET order_group = ? WHERE entity = ? AND order_group = ?",
            arguments: [new, entity.name, old])
    }

    /// References in local-only records must be updated here, since no pull does. Returns the keys of these records.
    private static func renameReferences(
        by writer: RecordWriter, field: String, _ old: String, _ given: JSONText
    ) throws -> [String] {
        let keys = try String.fetchAll(
            writer.db,
            sql: "SELECT _key FROM \(writer.table.name) WHERE CAST(_remote ->> '$.\"\(field)\"' AS TEXT) = ?",
            arguments: [old])
        for key in keys {
            guard let record = try writer.row.remote(of: key) else { continue }
            try writer.assumeRemote(record.setting(field, to: given), of: key)
        }
        return keys
    }

    /// Returns the keys of the records whose queued changes named the old key.
    @discardableResult
    private static func setInBodies(
        of entity: Entity, field: String, _ old: String, _ given: JSONText, _ db: Database
    ) throws -> [String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT id, record_key, body FROM sync_outbox
                WHERE entity = ?1 AND CAST(body ->> '$."\(field)"' AS TEXT) = ?2
                """,
            arguments: [entity.name, old])
        // `json_set` would round a number beyond 64 bits.
        for row in rows {
            let body = try JSONText(parsing: row["body"] as String).setting(field, to: given)
            try db.execute(
                sql: "UPDATE sync_outbox SET body = ? WHERE id = ?", arguments: [body.text, row["id"] as Int64])
        }
        return rows.map { $0["record_key"] }
    }
}
