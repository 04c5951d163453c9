internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// What the record writers of one transaction share. Valid only inside the transaction that is open on `db`.
final class RecordTransaction {
    let db: Database
    let plans: RecordPlans
    /// What has to be recomputed before the transaction ends (`DerivedRefresh`).
    var stale = StaleRecords()
    /// While the tables are being adapted: what depends on records is not in place yet, and is built anew afterwards.
    let isSilent: Bool

    init(_ db: Database, _ plans: RecordPlans, isSilent: Bool = false) {
        self.db = db
        self.plans = plans
        self.isSilent = isSilent
    }

    func writer(_ table: EntityTable) -> RecordWriter {
        let plan = plans[table.entity.name] ?? RecordPlan(table.entity, in: plans.schema)
        return RecordWriter(plan: plan, transaction: self)
    }

    /// Whether nothing is queued: then no record is hidden, and none differs from what the server said except in derived
    /// fields.
    func isQueueEmpty() throws -> Bool {
        try BoundStatement(db.cachedStatement(sql: "SELECT 1 FROM sync_outbox LIMIT 1")).first { _ in } == nil
    }
}
