package import EntitySchema
internal import GRDB
internal import JSONText
package import SchemaDrift

/// Where the upstream's records and the schema disagree.
extension CacheStore {
    /// Every disagreement, most frequent first.
    package func drift() throws -> [Drift] {
        try read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT * FROM sync_drift ORDER BY count DESC, entity, field, kind, found"))
            return try drift(rows)
        }
    }

    /// Those first seen after number `mark`, and the mark for the next call.
    package func drift(after mark: Int64) throws -> (found: [Drift], mark: Int64) {
        try read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT * FROM sync_drift WHERE id > ? ORDER BY id"), arguments: [mark])
            var last = mark
            let found = try drift(rows) { last = max(last, $0) }
            return (found, last)
        }
    }

    /// Records without a usable key, latest first.
    package func setAsideRecords(limit: Int) throws -> [SetAsideRecord] {
        try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: "SELECT entity, record, at FROM sync_set_aside ORDER BY at DESC, entity, record LIMIT ?"),
                arguments: [limit]
            ).map { SetAsideRecord(entity: $0[0], record: $0[1], at: Timestamp(milliseconds: $0[2])) }
        }
    }

    /// What a list should be, and how to get there.
    private static let wholeList = """
        a list of all records, each once; check pull.path, pull.query and pagination (style, page_size, total, next)
        """

    /// What a change needs to be kept, and how to get there.
    private static let keptChange = """
        what the upstream accepts, it keeps; leave the field out of the route's fields, or raise upstream.settle if the \
        upstream is further behind; if a deletion leaves a mark, name that in pull.deleted
        """

    /// Notes what is wrong with an entity's list as a whole; nil when nothing is. Writes nothing when that is known.
    package func noteList(_ problem: String?, of entity: String, at now: Timestamp) async throws {
        let known = try read { db in
            try String.fetchAll(
                db.cachedStatement(sql: "SELECT found FROM sync_drift WHERE entity = ? AND kind = 'list'"),
                arguments: [entity])
        }
        guard known != [problem].compactMap(\.self) else { return }
        try await change(at: now) { context in
            try Self.forgetListDrift(of: entity, context.db)
            guard let problem else { return }
            try context.db.cachedStatement(
                sql: """
                    INSERT INTO sync_drift (entity, field, kind, found, count, example, first_seen, last_seen)
                    VALUES (?1, 'pull', 'list', ?2, 1, '', ?3, ?3)
                    """
            ).execute(arguments: [entity, problem, now.milliseconds])
        }
    }

    /// Forgets why the entity's list was not believed.
    static func forgetListDrift(of entity: String, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_drift WHERE entity = ? AND kind = 'list'")
            .execute(arguments: [entity])
    }

    private func drift(_ rows: RowCursor, seen: (Int64) -> Void = { _ in }) throws -> [Drift] {
        var found: [Drift] = []
        while let row = try rows.next() {
            guard let kind = DriftKind(rawValue: row["kind"]) else { continue }
            seen(row["id"])
            // The schema has said so since.
            let isPartial = schema[row["entity"]]?.pull?.deltaToken?.isPartial ?? false
            if isPartial, kind == .missing, row["found"] == DriftTable.lacking { continue }
            let field = schema[row["entity"]]?[field: row["field"]]
            let expected =
                switch kind {
                case .list: Self.wholeList
                case .ignored: Self.keptChange
                case .unknown, .missing, .type, .value: field?.kind.expectation
                }
            found.append(
                Drift(
                    entity: row["entity"], field: row["field"], kind: kind, expected: expected,
                    found: row["found"], count: row["count"], example: row["example"],
                    firstSeen: Timestamp(milliseconds: row["first_seen"]),
                    lastSeen: Timestamp(milliseconds: row["last_seen"])))
        }
        return found
    }
}

extension Field.Kind {
    /// The expected value, in the schema's words.
    fileprivate var expectation: String {
        switch self {
        case .enum(let values): "one of " + values.map(\.value).joined(separator: ", ")
        case .reference(let entity): "key of \(entity)"
        default: description
        }
    }
}
