internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Conflicts that merging decided or left open, as users see them.
extension CacheStore {
    /// Newest first; `before` is the id that the last page ended with. `open` lists only undecided conflicts.
    package func conflicts(
        before: Int64?, open: Bool, limit: Int
    ) throws -> (conflicts: [JSONText], next: Int64?) {
        try snapshot { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM sync_conflict WHERE id < ? \(open ? "AND winner IS NULL" : "")
                        ORDER BY id DESC LIMIT ?
                        """),
                arguments: [before ?? .max, limit + 1])
            return try PageSize.page(
                of: rows, limit: limit, shown: { try self.conflict($0) }, place: { $0["id"] as Int64 })
        }
    }

    package func conflict(_ id: Int64) throws -> JSONText { try snapshot { db in try conflict(id, db) } }

    func conflict(_ id: Int64, _ db: Database) throws -> JSONText {
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM sync_conflict WHERE id = ?"), arguments: [id])
        guard let row else { throw CacheError.notFound("there is no conflict \(id)") }
        return try conflict(row)
    }

    private func conflict(_ row: Row) throws -> JSONText {
        func json(_ column: String) throws -> JSONText {
            try row.json(column).map { shown($0, entity: row["entity"], field: row["field"]) } ?? .null
        }
        func time(_ column: String) -> JSONText { .string(row.time(column)?.description) }
        return .object([
            "id": .integer(row["id"] as Int), "at": time("at"), "entity": .string(row["entity"] as String),
            "record_id": .string(row["record_key"] as String), "change_id": .integer(row["change_id"] as Int),
            "operation": .string(row["operation"] as String), "field": .string(row["field"] as String?),
            "base": try json("base"), "local": try json("local"), "server": try json("server"),
            "local_at": time("local_at"), "server_at": time("server_at"), "rule": .string(row["rule"] as String),
            "winner": .string(row["winner"] as String?), "decided_at": time("decided_at"),
            "undone_at": time("undone_at"),
        ])
    }

    /// A value without its secrets.
    private func shown(_ value: JSONText, entity: String, field: String?) -> JSONText {
        let sealer = sealers[entity]
        return field.map { sealer.shown(value, of: $0) } ?? sealer.shown(value)
    }
}
