internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The changes that depend on another change.
extension OutboxTable {
    /// The ids of the changes that make no sense without this one, oldest first. For a creation these are the changes of its
    /// record, the changes that refer to it, and the same for every record that those create. A change that only
    /// follows it in a group does not depend on it. Only ids: together the changes can be larger than the memory.
    ///
    /// If the schema no longer has the entity, it does not say which fields refer to it. Then these are the changes that wait for
    /// the creation and have its key in their text, or that of another creation among them.
    func dependents(on change: Entry) throws -> [Int64] {
        guard change.operation == .create else { return [] }
        guard schema[change.entity] != nil else { return try dependents(onLost: change) }
        guard try mayHaveDependents(change) else { return [] }
        let statement = BoundStatement(
            try db.cachedStatement(
                sql: """
                    WITH RECURSIVE reference (_id, _entity, _key) AS MATERIALIZED (\(references)),
                    creation (_entity, _key) AS (
                      SELECT ?1, ?2
                      UNION SELECT entity, record_key FROM creation CROSS JOIN reference USING (_entity, _key)
                        CROSS JOIN sync_outbox ON id = _id AND operation = 'create')
                    SELECT id FROM sync_outbox WHERE id <> ?3 AND ((entity, record_key) IN (SELECT _entity, _key FROM creation)
                      OR id IN (SELECT _id FROM creation CROSS JOIN reference USING (_entity, _key)))
                    ORDER BY id
                    """))
        try statement.bind(change.entity, to: 1)
        try statement.bind(change.key, to: 2)
        try statement.bind(change.id, to: 3)
        return try statement.all { BoundStatement($0).integer(0) }.compactMap(\.self)
    }

    private func dependents(onLost creation: Entry) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE later (id) AS (\(Self.waiting)),
                    creation (_key) AS (
                      SELECT ?2
                      UNION SELECT record_key FROM creation JOIN sync_outbox ON id IN later AND operation = 'create'
                        AND \(Self.namesCreation))
                    SELECT id FROM sync_outbox
                    WHERE id IN later AND EXISTS (SELECT 1 FROM creation WHERE \(Self.namesCreation)) ORDER BY id
                    """),
            arguments: [creation.id, creation.key])
    }

    /// Whether a change is of a record, or may have its key in its text: one with escapes could spell the key in other ways.
    private static let namesCreation = "(record_key = _key OR instr(body, _key) OR instr(body, '\\'))"

    /// Selects the changes `later` that wait for the change ?1, directly or through others.
    private static let waiting = """
        SELECT change_id FROM sync_dependency WHERE needs_id = ?1
        UNION SELECT change_id FROM sync_dependency JOIN later ON needs_id = later.id
        """

    /// False if no other change is of the creation's record or has its key in its text. Most creations have none, and
    /// reading all references for each of thousands that are discarded would take minutes.
    private func mayHaveDependents(_ creation: Entry) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_outbox WHERE id <> ?3
                      AND ((entity = ?1 AND record_key = ?2) OR instr(body, ?2) OR instr(body, '\\')))
                    """),
            arguments: [creation.entity, creation.key, creation.id]) ?? true
    }

    /// Selects which queued change refers to which record: id, entity and key. Read once, however many creations there are.
    private var references: String {
        let parts = schema.entities.flatMap { entity in
            entity.references.map { field, target in
                """
                SELECT id, '\(target)', CAST(body ->> '$."\(field)"' AS TEXT) FROM sync_outbox
                WHERE entity = '\(entity.name)'
                """
            }
        }
        return (["SELECT NULL, NULL, NULL"] + parts).joined(separator: " UNION ALL ")
    }

    /// Every change that waits for this one, directly or through others.
    func waiting(for id: Int64) throws -> Set<Int64> {
        try Int64.fetchSet(
            db.cachedStatement(sql: "WITH RECURSIVE later (id) AS (\(Self.waiting)) SELECT id FROM later"),
            arguments: [id])
    }
}
