internal import EntitySchema
internal import GRDB
internal import JSONText

/// The records of one entity that the server may still show as they were (`sync_settling`), in the caller's transaction.
struct SettlingTable {
    let entity: String
    let db: Database

    private static let columns = "record_key, kind, at, position, changed_at, exact, confirmed, fields"

    /// The rows of the entity; nil if there are more than `count`, or if they are too long to be held at once.
    func all(atMost count: Int) throws -> [Settling]? {
        let found = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(Self.columns) FROM sync_settling WHERE entity = ?"), arguments: [entity])
        var rows: [Settling] = []
        var bytes = 0
        while let row = try found.next() {
            let settling = try Self.settling(row)
            bytes += settling.bytes
            guard rows.count < count, bytes <= Self.mostBytes else { return nil }
            rows.append(settling)
        }
        return rows
    }

    private static let mostBytes = 4 << 20

    func row(of key: String) throws -> Settling? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(Self.columns) FROM sync_settling WHERE entity = ? AND record_key = ?"),
            arguments: [entity, key]
        ).map(Self.settling)
    }

    /// The row of a record that the server may still show as it was.
    func alive(_ key: String, at now: Timestamp, _ settle: Duration) throws -> Settling? {
        try row(of: key).flatMap { $0.isAlive(at: now, settle) ? $0 : nil }
    }

    func save(_ row: Settling) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_settling VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET kind = excluded.kind, at = excluded.at, position = excluded.position,
                  changed_at = excluded.changed_at, exact = excluded.exact, confirmed = excluded.confirmed,
                  fields = excluded.fields
                """
        ).execute(arguments: [
            entity, row.key, row.kind.rawValue, row.at.milliseconds, row.position, row.changedAt?.milliseconds,
            row.isExact, row.isConfirmed, Self.text(of: row.parts),
        ])
    }

    /// Has the record read once the time to settle is over.
    func doubt(_ key: String) throws {
        try db.cachedStatement(
            sql: "UPDATE sync_settling SET confirmed = 0 WHERE entity = ? AND record_key = ? AND confirmed = 1"
        ).execute(arguments: [entity, key])
    }

    func remove(_ key: String) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_settling WHERE entity = ? AND record_key = ?")
            .execute(arguments: [entity, key])
    }

    /// Removes the confirmed rows up to `position` that were acknowledged at `time` or before, those of deletions at
    /// `deletions` or before.
    func clean(before position: Int64, until time: Timestamp, deletions: Timestamp) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM sync_settling WHERE entity = ? AND at <= iif(kind = 'deleted', ?, ?) AND position <= ?
                  AND confirmed = 1
                """
        ).execute(arguments: [entity, min(time, deletions).milliseconds, time.milliseconds, position])
    }

    /// The keys of records that were created here after `time`, so that the server's lists need not have them yet.
    func created(after time: Timestamp) throws -> Set<ExactText> {
        try String.fetchAll(
            db.cachedStatement(
                sql: "SELECT record_key FROM sync_settling WHERE entity = ? AND kind = 'created' AND at > ?"),
            arguments: [entity, time.milliseconds]
        ).exactSet
    }

    // MARK: Fields as JSON

    private static func text(of parts: [String: Settling.Part]) -> String {
        JSONText.object(
            members: parts.sorted { $0.key < $1.key }.map { field, part in
                var members = [(key: "ours", value: part.ours), (key: "earlier", value: .array(part.earlier))]
                if part.isBlind { members.append(("blind", .boolean(true))) }
                return (key: field, value: JSONText.object(members: members))
            }
        ).text
    }

    private static func settling(_ row: Row) throws -> Settling {
        let fields = try JSONText(parsing: row[7] as String)
        let parts = fields.members.map { field, part in
            (
                field,
                Settling.Part(
                    ours: part["ours"] ?? .null, earlier: part["earlier"]?.elements ?? [],
                    isBlind: part["blind"]?.boolean ?? false)
            )
        }
        return Settling(
            key: row[0], kind: Settling.Kind(rawValue: row[1]) ?? .written, at: Timestamp(milliseconds: row[2]),
            position: row[3], changedAt: row.time(4), isExact: row[5], isConfirmed: row[6],
            parts: Dictionary(parts) { first, _ in first })
    }
}

extension WriteContext {
    /// The keys of records that were created so recently that their absence upstream says nothing.
    func newKeys(of entity: String) throws -> Set<ExactText> {
        try SettlingTable(entity: entity, db: db).created(after: now - schema.upstream.settle)
    }

    /// Notes that the server has had no record with this key since `position` in the log, though a list that is behind
    /// may show one.
    func noteDeletion(of key: String, _ entity: Entity, at position: Int64, changedAt: Timestamp?) throws {
        try SettlingTable(entity: entity.name, db: db).save(
            Settling(key: key, kind: .deleted, at: now, position: position, changedAt: changedAt, isConfirmed: true))
    }

    /// The settling row of a record that the server may still show as it was.
    func settling(of key: String, _ entity: Entity) throws -> Settling? {
        try SettlingTable(entity: entity.name, db: db).alive(key, at: now, schema.upstream.settle)
    }
}
