internal import EntitySchema
internal import GRDB

/// Adapts the derived fields to another schema when the cache is opened.
extension DerivedRefresh {
    private static let setting = "derived"

    /// Recomputes every derived field if the schema's definitions have changed since the last time. Watchers are not
    /// notified: as with any other column, a new schema shows the same records differently.
    func adapt() throws {
        let schema = records.plans.schema
        let settings = SettingTable(db: records.db)
        let (present, wanted) = (try settings[Self.setting], Self.definition(of: schema))
        guard present != wanted else { return }
        if present != schema.entities.map(Self.olderDefinition).joined(separator: "\n") {
            for entity in schema.entities { try recomputeAll(of: entity) }
        }
        for entity in schema.entities {
            try followQueue(of: entity)
            try followOwners(of: entity)
        }
        try settings.set(Self.setting, to: wanted)
    }

    static func isAdapted(to schema: EntitySchema, _ db: Database) throws -> Bool {
        try SettingTable(db: db)[setting] == definition(of: schema)
    }

    private static func definition(of schema: EntitySchema) -> String {
        schema.entities.map(definition).joined(separator: "\n")
    }

    /// Recomputes every record; of an entity without derived fields, only those with values from an older schema.
    func recomputeAll(of entity: Entity) throws {
        let rows = entity.derivedFields.isEmpty ? EntityTable.differs : "true"
        var last: Int64 = 0
        while true {
            let found = try Row.fetchAll(
                records.db.cachedStatement(
                    sql: """
                        SELECT _pk, _key FROM \(EntityTable(entity: entity).name) WHERE _pk > ? AND \(rows)
                        ORDER BY _pk LIMIT 1000
                        """),
                arguments: [last])
            for row in found { records.stale.insert(row[1], of: entity.name, .version) }
            try work()
            guard let end = found.last else { return }
            last = end[0]
        }
    }

    /// Lays the queue over the records whose changes may have left it while the schema did not have them.
    private func followQueue(of entity: Entity) throws {
        let table = EntityTable(entity: entity)
        let keys = try String.fetchAll(
            records.db, sql: "SELECT _key FROM \(table.name) WHERE _local IS NOT NULL OR _deleted <> 0")
        let writer = records.writer(table)
        for key in keys { try writer.rebuildDocument(over: key) }
        try work()
    }

    /// Hides the records whose owner was deleted while the schema did not have them.
    private func followOwners(of entity: Entity) throws {
        let table = EntityTable(entity: entity)
        for tie in entity.ties where tie.onDelete == .cascade {
            let keys = try String.fetchAll(
                records.db,
                sql: """
                    SELECT _key FROM \(table.name) WHERE _deleted = 0 AND \(table.sql(for: tie.field)) IN (
                      SELECT _key FROM \(EntityTable.name(of: tie.entity)) WHERE _deleted <> 0)
                    """)
            for key in keys { records.stale.insert(key, of: entity.name, .owner) }
        }
        try work()
    }

    private static func definition(_ entity: Entity) -> String {
        let fields = entity.derivedFields.map {
            "\($0.name) \($0.kind) \($0.derivation?.definition ?? "-") \($0.follow?.definition ?? "-")"
        }
        let touched = entity.touchedFields.map { "\($0.name) touched" }
        return "\(entity.name): \((fields + touched + entity.ties.map(\.definition)).joined(separator: "; "))"
    }

    /// The text of version 0.2.0 and older.
    private static func olderDefinition(_ entity: Entity) -> String {
        let fields = entity.derivedFields.map {
            "\($0.name) \($0.kind) \(String(describing: $0.derivation)) \(String(describing: $0.follow))"
        }
        return "\(entity.name): \((fields + entity.ties.map { "\($0)" }).joined(separator: ", "))"
    }
}
