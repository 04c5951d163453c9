internal import EntitySchema
internal import GRDB

/// Compares the counted uses of each content with the records and queued changes that refer to it.
struct ContentCheck {
    let schema: EntitySchema
    let db: Database

    private var references: String {
        let records = schema.entities.filter { $0.content != nil }.map { entity in
            """
            SELECT _content AS sha256, 0 AS is_queued FROM \(EntityTable(entity: entity).name)
            WHERE _content IS NOT NULL
            """
        }
        return (records + ["SELECT content AS sha256, 1 AS is_queued FROM sync_outbox WHERE content <> ''"])
            .joined(separator: " UNION ALL ")
    }

    func run(_ found: inout Inconsistencies) throws {
        let counted = """
            SELECT sha256 FROM sync_content content LEFT JOIN (
                SELECT sha256 AS used, count(*) AS records, sum(is_queued) AS changes
                FROM (\(references)) GROUP BY sha256)
            ON used = sha256
            WHERE uses <> coalesce(records, 0) OR queued <> coalesce(changes, 0) LIMIT 100
            """
        for sha256 in try String.fetchAll(db.cachedStatement(sql: counted)) {
            found.add(
                .content, "content \(sha256.prefix(12))…",
                "its counted uses differ from the records and changes that refer to it")
        }
        let missing = "SELECT sha256 FROM (\(references)) EXCEPT SELECT sha256 FROM sync_content LIMIT 100"
        for sha256 in try String.fetchAll(db.cachedStatement(sql: missing)) {
            found.add(.content, "content \(sha256.prefix(12))…", "it is referred to, but not counted")
        }
    }
}
