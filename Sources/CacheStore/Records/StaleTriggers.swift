internal import EntitySchema
internal import GRDB

/// The triggers of one entity's table that note in `sync_stale` which overlays have to be recomputed.
///
/// They see every change, whatever makes it; `DerivedRefresh` then does the work once for the whole transaction. An
/// entity that nothing depends on has no triggers.
struct StaleTriggers {
    let table: EntityTable
    /// The entities whose records are deleted with these: entity and reference.
    let owned: [(table: EntityTable, field: String)]
    let schema: EntitySchema

    /// Reference → the fields of this entity that the aggregates of the referenced entity read, the reference included.
    private let counted: [String: [Field]]

    var entity: Entity { table.entity }

    init(_ entity: Entity, in schema: EntitySchema) {
        table = EntityTable(entity: entity)
        self.schema = schema
        counted = Dictionary(
            uniqueKeysWithValues: entity.ties.filter(\.isCounted).map { tie in
                let figures =
                    schema[tie.entity].map { RelationAggregates.all(of: EntityTable(entity: $0), in: schema) } ?? []
                let names = figures.filter { $0.child.entity.name == entity.name && $0.reference.name == tie.field }
                    .flatMap(\.fieldsLookedAt)
                return (tie.field, entity.fields.filter { names.contains($0.name) })
            })
        owned = schema.entities.flatMap { child in
            child.ties.filter { $0.entity == entity.name && $0.onDelete == .cascade }.map { tie in
                (table: EntityTable(entity: child), field: tie.field)
            }
        }
    }

    /// Trigger name → statement.
    var all: [String: String] {
        var triggers: [String: String] = [:]
        add(&triggers, "inserted", "AFTER INSERT", note(NEW: true, OLD: false))
        add(
            &triggers, "changed", "AFTER UPDATE OF _key, _remote, _document, _deleted", note(NEW: true, OLD: true),
            when: "(OLD._key, OLD._remote, OLD._document, OLD._deleted) "
                + "IS NOT (NEW._key, NEW._remote, NEW._document, NEW._deleted)")
        add(&triggers, "deleted", "AFTER DELETE", note(NEW: false, OLD: true))
        return triggers
    }

    private func add(
        _ triggers: inout [String: String], _ event: String, _ clause: String, _ notes: [String], when: String? = nil
    ) {
        guard !notes.isEmpty else { return }
        let name = "sync_\(entity.name)_\(event)_stale"
        triggers[name] = """
            CREATE TRIGGER "\(name)" \(clause) ON \(table.name)\(when.map { " WHEN \($0)" } ?? "") BEGIN
            \(notes.joined(separator: "\n"))
            END
            """
    }

    static func dropAll(_ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'sync_*_stale'")
        for name in names { try db.execute(sql: "DROP TRIGGER \"\(name)\"") }
    }

    // MARK: Notes

    private func note(NEW isNew: Bool, OLD isOld: Bool) -> [String] {
        var notes: [String] = []
        if isNew, !entity.derivedFields.isEmpty { notes.append(ownVersion(hasOld: isOld)) }
        for tie in entity.ties {
            let rows: [String] = (isOld ? ["OLD"] : []) + (isNew ? ["NEW"] : [])
            if tie.isCounted { notes += rows.flatMap { countedBy(tie, $0, isChange: isNew && isOld) } }
            if isNew, tie.onDelete == .cascade { notes += rows.map { ownedBy(tie, $0) } }
        }
        if isOld { notes += owned.flatMap { owns($0.table, $0.field, isNew) } }
        return notes
    }

    /// The record itself, when the server has another version of it, unless there is nothing to overlay.
    private func ownVersion(hasOld: Bool) -> String {
        let followed = entity.fields.filter { $0.follow != nil }.map { "'\($0.name)', OLD.\"\($0.name)\"" }
        let shown = followed.isEmpty || !hasOld ? "NULL" : "json_object(\(followed.joined(separator: ", ")))"
        let isAnother = hasOld ? "(OLD._key, OLD._remote) IS NOT (NEW._key, NEW._remote) AND " : ""
        return Self.insert(entity.name, "NEW._key", cause: 1, shown: shown, where: "\(isAnother)(\(mayBeLaidOver))")
    }

    /// The records that it referred to or refers to, as readers see it and as the server has it; for an update, only if
    /// it changes what they count.
    private func countedBy(_ tie: Entity.Tie, _ row: String, isChange: Bool) -> [String] {
        guard let field = entity[field: tie.field] else { return [] }
        let counts = isChange ? " AND \(differs(in: counted[tie.field] ?? []))" : ""
        let places = ["\(row).\"\(tie.field)\"", table.expression(for: field, in: "\(row)._remote")]
        return places.map { place in
            let key = place == "_key" ? "\(row)._key" : place
            let condition = "\(key) IS NOT NULL AND (\(mayCount(row, for: tie, key)))\(counts)"
            return Self.insert(tie.entity, key, cause: 0, where: condition)
        }
    }

    /// Whether an update changes any of the fields, for readers or on the server, or hides or shows the record.
    private func differs(in fields: [Field]) -> String {
        let sides = ["OLD", "NEW"].map { row in
            let values = fields.flatMap { field in
                ["coalesce(\(row)._document, \(row)._remote)", "\(row)._remote"].map { table.json(of: field, in: $0) }
            }
            return (["\(row)._key", "\(row)._deleted"] + values).joined(separator: ", ")
        }
        return "(\(sides[0])) IS NOT (\(sides[1]))"
    }

    /// The record itself, when it gets an owner whose deletion is queued, or may have had one.
    private func ownedBy(_ tie: Entity.Tie, _ row: String) -> String {
        Self.insert(
            entity.name, "NEW._key", cause: 2,
            where: """
                EXISTS (SELECT 1 FROM \(EntityTable.name(of: tie.entity))
                  WHERE _key = \(row)."\(tie.field)" AND _deleted <> 0)
                """)
    }

    /// The records that go with it, when its deletion is queued or withdrawn, or when the record goes.
    private func owns(_ child: EntityTable, _ field: String, _ isNew: Bool) -> [String] {
        // Each condition matches an index.
        ["_deleted = 0", EntityTable.differs].map { condition in
            """
            \(Self.insertion)
              SELECT '\(child.entity.name)', _key, 2, NULL FROM \(child.name)
              WHERE \(child.sql(for: field)) = OLD._key AND \(condition)\(isNew ? " AND OLD._deleted <> NEW._deleted" : "")
              \(Self.merging);
            """
        }
    }

    private static let insertion = "INSERT INTO sync_stale (entity, record_key, cause, shown)"
    private static let merging = """
        ON CONFLICT DO UPDATE SET cause = max(cause, excluded.cause), shown = coalesce(shown, excluded.shown)
        """

    private static func insert(
        _ entity: String, _ key: String, cause: Int, shown: String = "NULL", where condition: String
    ) -> String {
        """
        \(insertion)
          SELECT '\(entity)', \(key), \(cause), \(shown) WHERE \(condition)
          \(merging);
        """
    }
}
