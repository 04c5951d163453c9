internal import EntitySchema
internal import GRDB
internal import JSONText

/// The rows of one entity in `sync_missing`: records that the last full pull did not see.
struct MissingTable {
    let entity: String
    let db: Database

    /// When it was first missing; nil if it was not.
    func since(_ pk: Int64, _ key: String) throws -> Timestamp? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT at FROM sync_missing WHERE entity = ? AND record_pk = ? AND record_key = ?"),
            arguments: [entity, pk, key]
        ).map(Timestamp.init(milliseconds:))
    }

    func insert(_ pk: Int64, _ key: String, at time: Timestamp) throws {
        try db.cachedStatement(sql: "INSERT INTO sync_missing VALUES (?, ?, ?, ?)")
            .execute(arguments: [entity, pk, key, time.milliseconds])
    }

    /// They were shown since.
    func forget(_ keys: Set<ExactText>) throws {
        try db.cachedStatement(
            sql: "DELETE FROM sync_missing WHERE entity = ?1 AND record_key IN (SELECT value FROM json_each(?2))"
        ).execute(arguments: [entity, JSONText.array(of: keys.map(\.text)).text])
    }

    func forgetAll() throws {
        try db.cachedStatement(sql: "DELETE FROM sync_missing WHERE entity = ?").execute(arguments: [entity])
    }
}
