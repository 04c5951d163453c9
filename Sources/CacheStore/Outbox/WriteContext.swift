internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// What every part of the write core needs: the schema, the connection, the time, new ids and the sealers.
///
/// Valid only inside the transaction that is open on `db`.
struct WriteContext {
    let schema: EntitySchema
    let db: Database
    let now: Timestamp
    /// How far the server's clock is ahead of `now`.
    let clockOffset: Duration
    let makeID: @Sendable () -> String
    let sealers: RecordSealers

    var queue: OutboxTable { OutboxTable(schema: schema, db: db) }
    var log: ChangeLog { ChangeLog(db: db, at: now) }

    /// The table of an entity; nil when the schema no longer has it.
    func table(_ entity: String) -> EntityTable? { schema[entity].map { EntityTable(entity: $0) } }

    func row(_ table: EntityTable) -> RecordRow { RecordRow(table: table, db: db) }
}
