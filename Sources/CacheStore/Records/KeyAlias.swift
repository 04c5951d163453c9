internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Local keys of records that the upstream has given another key; they keep working permanently.
enum KeyAlias {
    static func current(of key: String, _ entity: String, _ db: Database) throws -> String {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT record_key FROM sync_alias WHERE entity = ? AND old_key = ?"),
            arguments: [entity, key]) ?? key
    }

    /// The same in a transaction that writes.
    static func current(of key: String, _ entity: String, in records: RecordTransaction) throws -> String {
        try records.with(records.plans.queue.alias) { statement in
            try statement.bind(entity, to: 1)
            try statement.bind(key, to: 2)
            return try statement.step() ? statement.text(0) : nil
        } ?? key
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
    /// Part of the transaction that settles its creation, so readers never see a mix of old and new keys.
    static func rename(_ table: EntityTable, from old: String, to new: String, _ records: RecordTransaction) throws {
        let (writer, db) = (records.writer(table), records.db)
        // A pull may have brought the upstream's version under its own key before the answer arrived.
        try writer.delete(new)
        try writer.rename(old, to: new)
        try db.execute(
            sql: "UPDATE sync_outbox SET record_key = ? WHERE entity = ? AND record_key = ?",
            arguments: [new, table.entity.name, old])
        try db.execute(
            sql: "UPDATE sync_alias SET record_key = ? WHERE entity = ? AND record_key = ?",
            arguments: [new, table.entity.name, old])
        try db.execute(
            sql: "INSERT INTO sync_alias VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record_key = excluded.record_key",
            arguments: [table.entity.name, old, new])
        try renameKeyInBodies(table.entity, old, new, db)
        for entity in records.plans.schema.entities {
            try renameReferences(in: entity, to: table.entity, old, new, records)
        }
    }

    private static func renameKeyInBodies(_ entity: Entity, _ old: String, _ new: String, _ db: Database) throws {
        try setInBodies(of: entity, field: entity.key, old, new, db)
    }

    private static func renameReferences(
        in entity: Entity, to target: Entity, _ old: String, _ new: String, _ records: RecordTransaction
    ) throws {
        let db = records.db
        let writer = records.writer(EntityTable(entity: entity))
        for field in entity.fields where field.kind == .reference(to: target.name) {
            // A record whose key is a reference to the renamed record is renamed with it.
            if field.name == entity.key, entity.name != target.name, try writer.row.exists(old) {
                try rename(writer.table, from: old, to: new, records)
                try writer.rebuildDocument(over: new)
            }
            let changed = try setInBodies(of: entity, field: field.name, old, new, db)
            if entity.orderWithin == field.name {
                try db.execute(
                    sql: "UPDATE sync_outbox SET order_group = ? WHERE entity = ? AND order_group = ?",
                    arguments: [new, entity.name, old])
            }
            if entity.isLocal { try renameReferences(by: writer, field: field.name, old, new) }
            for key in changed { try writer.rebuildDocument(over: key) }
        }
    }

    /// References in local-only records must be updated here, since no pull does.
    private static func renameReferences(
        by writer: RecordWriter, field: String, _ old: String, _ new: String
    ) throws {
        let keys = try String.fetchAll(
            writer.db, sql: "SELECT _key FROM \(writer.table.name) WHERE _remote ->> '$.\"\(field)\"' = ?",
            arguments: [old])
        for key in keys {
            guard let record = try writer.row.remote(of: key) else { continue }
            try writer.assumeRemote(record.setting(field, to: .string(new)), of: key)
        }
    }

    /// Returns the keys of the records whose queued changes named the old key.
    @discardableResult
    private static func setInBodies(
        of entity: Entity, field: String, _ old: String, _ new: String, _ db: Database
    ) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                UPDATE sync_outbox SET body = json_set(body, '$."\(field)"', ?1)
                WHERE entity = ?2 AND body ->> '$."\(field)"' = ?3 RETURNING record_key
                """,
            arguments: [new, entity.name, old])
    }
}
