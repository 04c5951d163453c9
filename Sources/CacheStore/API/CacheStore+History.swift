internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// The history of a record.
extension CacheStore {
    /// The record's entries of the change log, oldest first, under every key that it has had; `after` is the number
    /// that the last page ended with. An entry also has the details of its step: `operation` and `values` of an edit,
    /// `attempt`, `error`, and `conflict` in its current state.
    ///
    /// The steps of local changes are looked for in the parts of the log that have some of the record, pulls by scanning
    /// the log. Throws `.notCached` when neither the record nor its log is known.
    package func history(
        of entity: String, key: String, after: Int64, limit: Int
    ) throws -> (entries: [JSONText], next: Int64?) {
        let table = try table(entity)
        return try snapshot { db in
            let names = try KeyAlias.all(of: key, entity, db)
            let own = try Self.ownSteps(entity, names, after, limit + 1, db)
            let pulled = try Self.pulls(entity, names, after, limit + 1, db)
            let steps = (own + pulled).sorted()
            if steps.isEmpty, after == 0, try !RecordRow(table: table, db: db).exists(names[0]) {
                throw CacheError.notCached(entity: entity, key: key)
            }
            return try PageSize.page(
                of: AnyCursor(steps), limit: limit, shown: { try historyEntry($0, names, db) }, place: { $0 })
        }
    }

    private static func ownSteps(
        _ entity: String, _ names: [String], _ after: Int64, _ limit: Int, _ db: Database
    ) throws -> [Int64] {
        let keys = ChangeLog.keys(names.map { ChangeLog.keys([$0]) })
        var found: [Int64] = []
        for part in try parts(with: keys, after, db) where found.count < limit {
            found += try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT seq FROM sync_change_log
                        WHERE seq > ?1 AND seq <= ?2 AND change_id IS NOT NULL
                          AND entity = ?3 AND keys IN (SELECT value FROM json_each(?4))
                        ORDER BY seq LIMIT ?5
                        """),
                arguments: [max(part.lowerBound - 1, after), part.upperBound, entity, keys, limit - found.count])
        }
        return found
    }

    /// The parts of the log after number `after` that may have steps with these keys, and what is in no part yet.
    private static func parts(with keys: String, _ after: Int64, _ db: Database) throws -> [ClosedRange<Int64>] {
        let parts = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT first, last FROM sync_log_part
                    WHERE last > ?1 AND EXISTS (SELECT 1 FROM json_each(?2) WHERE instr(sync_log_part.keys, value) > 0)
                    ORDER BY last
                    """),
            arguments: [after, keys])
        let end = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(last) FROM sync_log_part")) ?? 0
        return parts.map { $0[0]...$0[1] } + [end + 1...Int64.max]
    }

    private static func pulls(
        _ entity: String, _ names: [String], _ after: Int64, _ limit: Int, _ db: Database
    ) throws -> [Int64] {
        // `instr` alone would match a key made of commas and quotes across two others.
        let name = "(instr(keys, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(keys) WHERE value = ?))"
        let condition = names.map { _ in name }.joined(separator: " OR ")
        let arguments = names.flatMap { [JSONText.string($0).text, $0] }
        return try Int64.fetchAll(
            db,
            sql: """
                SELECT seq FROM sync_change_log
                WHERE change_id IS NULL AND kind <> 'hook' AND entity = ? AND seq > ? AND (\(condition)) ORDER BY seq
                LIMIT ?
                """,
            arguments: StatementArguments([entity, after] as [any DatabaseValueConvertible])
                + StatementArguments(arguments) + [limit])
    }

    private func historyEntry(_ step: Int64, _ names: [String], _ db: Database) throws -> JSONText {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT seq, at, kind, keys, fields, change_id, detail FROM sync_change_log WHERE seq = ?"),
            arguments: [step])
        guard let row else { return .null }
        let keys = try JSONText(parsing: row["keys"] as String).elements.map { $0.string ?? "" }
        let place = keys.firstIndex { names.contains($0) } ?? 0
        var members: [(key: String, value: JSONText)] = [
            ("seq", .integer((row["seq"] as Int) - keys.count + 1 + place)),
            ("at", .string(Timestamp(milliseconds: row["at"]).description)), ("kind", .string(row["kind"] as String)),
            ("change_id", .integer(row["change_id"] as Int?)),
            ("fields", try row.json("fields") ?? .null),
        ]
        guard let detail: String = row["detail"] else { return .object(members: members) }
        for member in try JSONText(parsing: detail).members {
            if member.key == "conflict", let id = member.value.integer {
                members.append(("conflict", try conflict(Int64(id), db)))
            } else {
                members.append(member)
            }
        }
        return .object(members: members)
    }
}
