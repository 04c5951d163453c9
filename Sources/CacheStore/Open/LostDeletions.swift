internal import EntitySchema
internal import GRDB

/// Lets deletions go on that wait for the deletion of a record whose entity the schema no longer has.
///
/// A deletion waits until what was taken away from its record has been sent. A record that was to be deleted as well need
/// not be spared: it goes along, or the upstream refuses and says why. One that was moved away still holds the deletion up.
enum LostDeletions {
    /// Idempotent, at each opening: an earlier version may have opened the database with this schema. What a lost deletion
    /// waited for is waited for directly from then on.
    static func release(_ schema: EntitySchema, _ db: Database) throws {
        let names = schema.namesSQL
        let isAnyLost = "SELECT EXISTS (SELECT 1 FROM sync_outbox WHERE entity NOT IN (\(names)))"
        guard try Bool.fetchOne(db, sql: isAnyLost) ?? false else { return }
        // The deletions, and what was queued of the same records before.
        let lost = """
            lost (id) AS MATERIALIZED (
              SELECT id FROM sync_outbox AS change WHERE entity NOT IN (\(names)) AND EXISTS (
                SELECT 1 FROM sync_outbox AS last WHERE last.operation = 'delete'
                  AND last.entity = change.entity AND last.record_key = change.record_key AND last.id >= change.id))
            """
        let waiting = "SELECT id FROM sync_outbox WHERE operation = 'delete' AND entity IN (\(names))"
        try db.execute(
            sql: """
                WITH RECURSIVE \(lost), need (change_id, needs_id) AS (
                  SELECT change_id, needs_id FROM sync_dependency WHERE change_id IN (\(waiting)) AND needs_id IN lost
                  UNION SELECT need.change_id, next.needs_id FROM need
                    JOIN sync_dependency AS next ON next.change_id = need.needs_id WHERE need.needs_id IN lost)
                INSERT INTO sync_dependency SELECT change_id, needs_id FROM need WHERE needs_id NOT IN lost
                ON CONFLICT DO NOTHING;
                WITH \(lost) DELETE FROM sync_dependency WHERE change_id IN (\(waiting)) AND needs_id IN lost;
                """)
    }
}
