internal import EntitySchema
internal import GRDB

/// Which records of an entity came from creations that were acknowledged here.
struct AcknowledgedCreations {
    let table: EntityTable
    let db: Database

    /// Whether the record with this key came from a creation that was acknowledged while the change `id`, another creation,
    /// was in the queue. One that a pull brought and that was only edited here did not. Where the log no longer goes back
    /// that far, any acknowledged change of the record counts.
    func have(_ key: String, since id: Int64) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE _key = ? AND _acknowledged IS NOT NULL)"
        guard try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [key]) ?? false else { return false }
        guard
            let first = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT min(seq) FROM sync_change_log WHERE change_id = ?"), arguments: [id])
        else { return true }
        let names = try KeyAlias.all(of: key, table.entity.name, db).map { ChangeLog.keys([$0]) }
        return try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (
                      SELECT 1 FROM sync_change_log
                      WHERE seq > ? AND change_id IS NOT NULL AND kind = '\(ChangeLogKind.acknowledged.rawValue)'
                        AND entity = ? AND keys IN (SELECT value FROM json_each(?))
                        AND detail ->> '$.operation' = '\(Operation.create.rawValue)')
                    """),
            arguments: [first, table.entity.name, ChangeLog.keys(names)]) ?? false
    }
}
