internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// What every part of the write core needs: the connection and the records of the transaction, the time, new ids and the
/// sealers.
///
/// Valid only inside the transaction that is open on `db`.
struct WriteContext {
    let records: RecordTransaction
    let now: Timestamp
    /// How far the server's clock is ahead of `now`.
    let clockOffset: Duration
    let makeID: @Sendable () -> String
    let sealers: RecordSealers
    /// The trace of the caller that the transaction works for.
    var trace: TraceContext?

    var schema: EntitySchema { records.plans.schema }
    var db: Database { records.db }
    var queue: OutboxTable { OutboxTable(records: records, trace: trace) }
    var log: ChangeLog { ChangeLog(records: records, at: now) }

    /// The table of an entity; nil when the schema no longer has it.
    func table(_ entity: String) -> EntityTable? { records.plans[entity]?.table }

    func row(_ table: EntityTable) -> RecordRow { RecordRow(table: table, db: db) }

    func writer(_ table: EntityTable) -> RecordWriter { records.writer(table) }

    /// Recomputes what the transaction has made stale so far, before anything is answered from it.
    func refresh() throws {
        try DerivedRefresh(records: records, now: now).work()
        if records.hooks.areLarge { try records.hooks.log(to: log) }
    }

    /// The same for a write to one of several records of `entity`; see `RecordTransaction.postponesFigures`.
    func refresh(after entity: String) throws {
        if records.postponesFigures { records.stale.postponeFigures(except: entity) }
        try refresh()
    }

    /// Computes the figures that wait, if those of `entity` do; with nil those of all.
    func computeFigures(of entity: String? = nil) throws {
        if let entity, !records.stale.hasPostponed(of: entity) { return }
        records.stale.releaseFigures()
        try refresh()
    }

    /// Ends the transaction: refreshes, and logs the events of hooks.
    func finish() throws {
        try refresh()
        try records.hooks.log(to: log)
    }
}
