internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Compares everything that a database keeps twice: columns with documents, overlays with the queue, derived values
/// with a recomputation, counters with counts, the search index with texts, reminders with records.
///
/// Runs inside the caller's read transaction and writes nothing but temporary tables. The time is linear in the size of
/// the database, the memory does not depend on it (`temp_store` decides where the temporary search index is). `db`
/// needs the functions of `CacheOpening.addFunctions`.
struct ConsistencyCheck {
    let db: Database
    let plans: RecordPlans
    let reminderDays: ReminderDays

    private var schema: EntitySchema { plans.schema }

    /// Returns the first inconsistencies; empty when there are none. Throws `.failed` when the database is not adapted
    /// to the schema yet, since nothing can be compared then.
    func run(atMost limit: Int) throws -> [Inconsistency] {
        guard try isAdapted() else { throw Self.notAdapted }
        var found = Inconsistencies(atMost: limit)
        try CounterCheck(schema: schema, db: db).run(&found)
        try ContentCheck(schema: schema, db: db).run(&found)
        for plan in schema.entities.compactMap({ plans[$0.name] }) where !found.isFull {
            try RecordCheck(plan: plan, plans: plans, db: db).run(&found)
            for reminder in plan.reminders { try ReminderCheck(schedule: reminder, db: db).run(&found) }
            if let search = SearchTable(plan.entity) { try SearchCheck(table: search, db: db).run(&found) }
        }
        return found.found
    }

    static let notAdapted = CacheError.failed(
        "the database has to be adapted to the schema first, which the next start does")

    private func isAdapted() throws -> Bool {
        try EntityTableAdapter.isAdapted(to: schema, db) && !TableBackfill.isRequested(db)
            && DerivedRefresh.isAdapted(to: schema, db)
            && SearchTableAdapter(schema: schema, db: db).isUpToDate()
            && ReminderAdapter(schema: schema, days: reminderDays, db: db).isUpToDate()
    }
}
