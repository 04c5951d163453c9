internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// What the record writers of one transaction share. Valid only inside the transaction that is open on `db`.
final class RecordTransaction {
    let db: Database
    let plans: RecordPlans
    /// What has to be recomputed before the transaction ends (`DerivedRefresh`).
    var stale = StaleRecords()
    /// Whether figures that are computed from other records can wait until the end of several writes.
    var postponesFigures = false
    /// What may become events of hooks (`WriteContext.finish`).
    var hooks = HookNotes()
    /// How many bytes the records have that were read in order to be changed, each as often as it was.
    var bytesRead = 0
    /// While an entity is read for the first time, hooks get no events.
    var isLoading = false
    /// The names of the marks that are stored.
    private var marked: Set<String> = []
    /// What values mean to the server, by entity, as far as it was asked for.
    var meanings: [String: Meaning] = [:]
    /// How many more values of lists may be compared that the server may have filled in: a page may have many records with such
    /// lists.
    var listRoom = 1_000_000
    /// While the tables are being adapted: what depends on records is not in place yet, and is built
    /// afterwards.
    let isSilent: Bool

    init(_ db: Database, _ plans: RecordPlans, isSilent: Bool = false) {
        self.db = db
        self.plans = plans
        self.isSilent = isSilent
    }

    /// `table` is one of the schema's.
    func writer(_ table: EntityTable) -> RecordWriter {
        guard let plan = plans[table.entity.name] else { preconditionFailure("no entity \(table.entity.name)") }
        return RecordWriter(plan: plan, transaction: self)
    }

    /// Call this after all writes were undone: what they made stale is as it was. `noted` is what was noted for hooks before
    /// them.
    func forgetNotes(since noted: HookNotes) {
        stale = StaleRecords()
        hooks = noted
        forgetRead()
    }

    /// The same after the last of several writes was undone: what those before it have noted stays.
    func forgetNotes() {
        stale.undoWrite()
        hooks.undo()
        forgetRead()
    }

    /// What an undone write has read or stored may have changed.
    private func forgetRead() {
        marked = []
        indexed = [:]
        lastChanged = nil
        numbers = nil
        hasAliases = nil
    }

    /// Call this for each write of the mark's entity, once the record's values are known.
    func store(_ mark: RecordMark?) throws {
        guard let mark, mark.isRaised, marked.insert(mark.name).inserted else { return }
        try mark.store(db)
    }

    // MARK: How far the search indexes are

    /// By entity, as it was last read.
    private var indexed: [String: Int64] = [:]

    /// The greatest `_pk` in the search index of the plan's records. Read once: nearly every change of a record asks.
    func indexedTo(_ plan: RecordPlan) throws -> Int64 {
        if let known = indexed[plan.entity.name] { return known }
        let upTo = try plan.searchEnd.flatMap { sql in try with(sql) { try $0.step() ? $0.integer(0) : nil } } ?? .min
        indexed[plan.entity.name] = upTo
        return upTo
    }

    /// Adds the records just inserted to the entity's search index, or the first of them, unless there are too many.
    func indexInserted(_ entity: Entity) throws {
        try SearchIndex.noteInserted(entity, db)
        forgetIndexed()
    }

    /// Call this after records were added to an index or removed from it.
    func forgetIndexed() { indexed = [:] }

    // MARK: The numbers of log and queue

    /// As they were last read or given here.
    private var numbers: LastNumbers?

    func lastNumbers() throws -> LastNumbers {
        if let numbers { return numbers }
        let read = try with(plans.queue.numbers) { statement in
            guard try statement.step() else { throw CacheError.failed("an aggregate has no row; please report this") }
            return LastNumbers(reading: statement)
        }
        numbers = read
        return read
    }

    /// Call this after a row got the next number.
    func note(_ given: LastNumbers) { numbers = given }

    /// Call this after rows got numbers in another way.
    func forgetNumbers() { numbers = nil }

    // MARK: Former keys

    /// Whether a record has had another key; nil if that is not known.
    private var hasAliases: Bool?
    private var wasAskedForAlias = false

    /// Whether a key may be a record's former one. The first answer is always yes: many transactions ask only once, and to look for
    /// that key costs no more than to look for any.
    func mayHaveAliases() throws -> Bool {
        if let hasAliases { return hasAliases }
        guard wasAskedForAlias else {
            wasAskedForAlias = true
            return true
        }
        let found = try with(plans.queue.anyAlias) { try $0.step() }
        hasAliases = found
        return found
    }

    /// Call this after a record got another key.
    func noteAlias() { hasAliases = true }

    // MARK: The record that was changed last

    private var lastChanged: (record: ChangedRecord, writes: Int)?

    /// Call this with a record as a local change has just left it. It costs less than to read it again for the answer.
    func note(_ record: ChangedRecord) { lastChanged = (record, db.totalChangesCount) }

    /// The record that was changed last, if its caller knows it by this name and the connection has written nothing since.
    func changed(_ entity: String, _ name: String) -> ChangedRecord? {
        guard let (record, writes) = lastChanged, record.name.exact == name.exact, record.entity == entity,
            writes == db.totalChangesCount
        else { return nil }
        return record
    }

    /// Runs a numbered statement; see `WriterStatements.with`.
    func with<Result>(_ sql: NumberedSQL, _ body: (BoundStatement) throws -> Result) throws -> Result {
        try plans.statements.with(sql, on: db, body)
    }

    /// Set while many records are written and nothing is queued or removed from the queue.
    var isQueueKnownEmpty: Bool?

    /// Whether nothing is queued: then no record is hidden, and none differs from what the server said except in derived
    /// fields.
    func isQueueEmpty() throws -> Bool {
        if let isQueueKnownEmpty { return isQueueKnownEmpty }
        return try BoundStatement(db.cachedStatement(sql: "SELECT 1 FROM sync_outbox LIMIT 1")).first { _ in } == nil
    }
}
