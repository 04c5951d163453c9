internal import EntitySchema
internal import GRDB

/// Adapts the derived fields to another schema when the cache is opened.
extension DerivedRefresh {
    private static let setting = "derived"

    /// Recomputes every derived field if the schema's definitions have changed since the last time. Watchers are not
    /// notified: as with any other column, a new schema shows the same records differently.
    static func adapt(to schema: EntitySchema, _ db: Database) throws {
        let wanted = schema.entities.map(definition).joined(separator: "\n")
        let present = try String.fetchOne(
            db, sql: "SELECT value FROM sync_setting WHERE name = ?", arguments: [setting])
        if present != wanted {
            let isOlderText = present == schema.entities.map(olderDefinition).joined(separator: "\n")
            for entity in schema.entities where !isOlderText { try noteAll(of: entity, db) }
            try db.execute(
                sql: "INSERT INTO sync_setting VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                arguments: [setting, wanted])
        }
        let latest = try Int64.fetchOne(db, sql: "SELECT at FROM sync_change_log ORDER BY seq DESC LIMIT 1")
        try DerivedRefresh(schema: schema, db: db, now: Timestamp(milliseconds: latest ?? 0)).work()
    }

    /// Marks every record as stale; for an entity without derived fields, only those with values from an older schema.
    static func noteAll(of entity: Entity, _ db: Database) throws {
        let rows = entity.derivedFields.isEmpty ? EntityTable.differs : "true"
        try db.execute(
            sql: """
                INSERT INTO sync_stale (entity, record_key, cause)
                SELECT ?, _key, \(Cause.version.rawValue) FROM \(EntityTable(entity: entity).name) WHERE \(rows)
                ON CONFLICT DO NOTHING
                """,
            arguments: [entity.name])
    }

    private static func definition(_ entity: Entity) -> String {
        let fields = entity.derivedFields.map {
            "\($0.name) \($0.kind) \($0.derivation?.definition ?? "-") \($0.follow?.definition ?? "-")"
        }
        return "\(entity.name): \((fields + entity.ties.map(\.definition)).joined(separator: "; "))"
    }

    /// The text of version 0.2.0 and older.
    private static func olderDefinition(_ entity: Entity) -> String {
        let fields = entity.derivedFields.map {
            "\($0.name) \($0.kind) \(String(describing: $0.derivation)) \(String(describing: $0.follow))"
        }
        return "\(entity.name): \((fields + entity.ties.map { "\($0)" }).joined(separator: ", "))"
    }
}
