internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// What may have come of a creation whose answer was lost.
extension CacheStore {
    /// Those of these changes that create a record of the entity.
    package func creations(_ ids: Set<Int64>, of entity: String) throws -> [OutboxChange] {
        try read { db in
            try ids.sorted().compactMap { id -> OutboxChange? in
                let row = try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT * FROM sync_outbox WHERE id = ? AND entity = ? AND operation = 'create'"),
                    arguments: [id, entity])
                return try row.flatMap { row in try outboxChange(row, db) }
            }
        }
    }

    /// Whether a record with this key was cached before the change's first attempt, or came from another creation that was
    /// acknowledged since: then that attempt cannot have created it.
    package func wasKnown(_ key: String, before change: OutboxChange) throws -> Bool {
        let table = try table(change.entity)
        return try read { db in
            let isOlder = try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (
                          SELECT 1 FROM \(table.name)
                          WHERE _key = ? AND _pk <= (SELECT known_pk FROM sync_outbox WHERE id = ?))
                        """),
                arguments: [key, change.id])
            return try isOlder == true || AcknowledgedCreations(table: table, db: db).have(key, since: change.id)
        }
    }

    /// Records that the creation may have made unseen, and that were edited here since: pulls have brought them after its
    /// first attempt. `fields` are those that acknowledged edits have set.
    package func editedTwins(of change: OutboxChange) throws -> [(record: JSONText, fields: Set<String>)] {
        let edits: [(ExactText, Set<String>)] = try read { db in
            try Row.fetchAll(
                db.cachedStatement(sql: Self.laterEditsSQL), arguments: [change.id, change.entity]
            ).map { row in
                let key = try JSONText(parsing: row["keys"] as String).elements.first?.string ?? ""
                let fields = try row.json("fields")?.elements.compactMap(\.string) ?? []
                return (try KeyAlias.current(of: key, change.entity, db).exact, Set(fields))
            }
        }
        return try Dictionary(edits) { $0.union($1) }.sorted { $0.key < $1.key }.compactMap { key, fields in
            guard try key != change.key.exact && !wasKnown(key.text, before: change),
                let record = try remote(of: change.entity, key: key.text)
            else { return nil }
            return (record, fields)
        }
    }

    /// The acknowledged edits of ?2 since the change ?1 was made.
    private static let laterEditsSQL = """
        SELECT keys, fields FROM sync_change_log
        WHERE seq > (SELECT min(seq) FROM sync_change_log WHERE change_id = ?1)
          AND change_id IS NOT NULL AND kind = '\(ChangeLogKind.acknowledged.rawValue)' AND entity = ?2
          AND detail ->> '$.operation' = '\(Operation.update.rawValue)'
        """
}
