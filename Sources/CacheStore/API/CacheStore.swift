package import EntitySchema
internal import GRDB
internal import GRDBSQLite
package import SQLiteStore
package import Secrets
internal import Synchronization

/// The SQLite cache of one upstream and account: records, queue, cursors and change log.
///
/// One writing connection, grouped commits, `synchronous=FULL`: an acknowledged write is on disk. Readers never wait
/// for it. What belongs together happens in one transaction, and nothing uncommitted is visible.
///
/// A class only because each request of the local API copies what holds it: as a struct of this size, that took as long
/// as parsing the request.
package final class CacheStore: Sendable {
    let schema: EntitySchema
    let plans: RecordPlans
    let reminderDays: ReminderDays
    package let hooks: [HookRule]
    let pool: DatabasePool
    /// For records and lists; `pool` reads everything else.
    let readers: ReaderPool
    /// For lists that take long.
    let longReads: LongReads
    let writer: GroupCommit
    /// Measures how long transactions and reads take.
    let uptime: GroupCommit.Uptime
    let damage = DamageWatch()
    /// The fixed statements that readers keep prepared.
    let queries: FixedQueries
    let filterContext: FilterContext
    let loadedEntities = LoadedEntities()
    /// Those of the writing connection.
    var statements: WriterStatements { plans.statements }
    let sealers: RecordSealers
    /// Makes record ids and idempotency keys.
    let makeID: @Sendable () -> String
    let searchCatchUp: SearchCatchUp
    let largeAnswers = LargeAnswers()
    /// Wakes callers that wait for the next commit.
    package let signal = ChangeSignal()
    /// Identifies the file that the change log's numbers belong to.
    package let epoch: String

    /// Opens or creates the database at `path` and adapts its tables to `schema`, keeping records and queue. Secret
    /// fields are stored only as `sealer` seals them.
    ///
    /// `hooks`: those for which events of records are logged. `readerCount`: how many threads read records at once;
    /// more wait for one another. `schedule` runs a commit later, never two at once; nil uses a queue of the store's
    /// own. `uptime` measures how long transactions and reads take. `goesOn` is polled while opening takes long; false undoes the
    /// step under way. `progress` is called after each step of a long adaptation. `preview` is one of the same file, if
    /// there is one already.
    ///
    /// Throws `.incompatible` for a file of a newer version or one sealed with another key, and `.damaged` for a damaged
    /// one; both stay as they are, log included. Throws `.unwritable` when the file cannot be used now, and
    /// `CancellationError` after `goesOn` was false.
    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, reminderDays: ReminderDays = .utc,
        hooks: [HookRule] = [], readerCount: Int = 2, preview: sending DatabasePreview? = nil,
        goesOn: @escaping @Sendable () -> Bool = { true },
        progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in },
        schedule: GroupCommit.Schedule? = nil, uptime: @escaping GroupCommit.Uptime = GroupCommit.uptime(),
        makeID: @escaping @Sendable () -> String
    ) throws {
        self.schema = schema
        self.reminderDays = reminderDays
        self.hooks = hooks
        self.makeID = makeID
        self.uptime = uptime
        sealers = RecordSealers(schema, sealer)
        var numbers = StatementNumbers()
        queries = FixedQueries(schema, sealers, &numbers)
        plans = RecordPlans(schema, hooks: hooks, &numbers, noting: sealers.added, given: sealers.given)
        searchCatchUp = SearchCatchUp(schema: schema)
        let preview = preview ?? DatabasePreview(path: path)
        let isNew = preview.mark == nil
        do {
            pool = try Self.opened(path, preview, reminderDays)
            epoch = try Self.prepare(pool, at: path, plans, while: goesOn) { [pool, plans, sealers] in
                try Self.migrate(pool, plans, sealer, sealers, reminderDays, progress)
                try Self.layLateChanges(pool, plans, sealers, makeID)
            }
        } catch {
            // Closes last, so that the log of a damaged file is preserved.
            withExtendedLifetime(preview) {}
            throw Self.classified(error, path, isNew: isNew)
        }
        readers = ReaderPool(path: path, damage: damage, count: readerCount, first: preview.connection)
        filterContext = FilterContext(schema: schema, sealers: sealers, readers: readers)
        writer = GroupCommit(
            writer: pool, readers: readers, schedule: schedule ?? GroupCommit.onQueue(), damage: damage,
            committed: signal.announce, upkeep: Self.upkeep(plans, searchCatchUp), uptime: uptime)
        longReads = LongReads(path: path, damage: damage, writer: writer, uptime: uptime)
    }

    /// Returns when the writer has run. A full disk is no standstill.
    package func awaitWriter() async {
        try? await writer.write { _ in }
    }

    /// Returns when the writer has run, or has got on with a transaction that takes long, such as the deletion of a record with
    /// millions of others: for a watchdog. Returns when cancelled, too.
    package func awaitWriterProgress(_ clock: any Clock<Duration>) async {
        let before = writer.moment
        // Not awaited: it waits for the transaction under way.
        Task { await awaitWriter() }
        while writer.moment == before, (try? await clock.sleep(for: .milliseconds(50))) != nil {}
    }

    func table(_ entity: String) throws(CacheError) -> EntityTable {
        try reading(entity).table
    }

    /// For writing inside the transaction that is open on `db`.
    func context(
        _ db: Database, at now: Timestamp, clockOffset: Duration = .zero, trace: TraceContext? = nil
    ) -> WriteContext {
        WriteContext(
            records: RecordTransaction(db, plans), now: now, clockOffset: clockOffset, makeID: makeID,
            sealers: sealers, trace: trace)
    }

    // MARK: Opening

    private static func classified(_ error: any Error, _ path: String, isNew: Bool) -> any Error {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR, !isNew else {
            return GroupCommit.classified(error)
        }
        // Our own statements fail here only on tables that are not as we created them.
        return CacheError.damaged("the tables of \(path) are damaged (\(error.message ?? "no reason"))")
    }

    private static func opened(
        _ path: String, _ preview: DatabasePreview, _ reminderDays: ReminderDays
    ) throws -> DatabasePool {
        try DatabaseFile.requireRegular(path)
        try preview.check()
        return try DatabasePool(path: path, configuration: configuration(reminderDays))
    }

    private static func configuration(_ reminderDays: ReminderDays) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .timeout(5)
        configuration.label = "cache"
        configuration.prepareDatabase { db in
            // 2 MiB per connection: the kernel caches the file, and five connections must stay small. What they sort, or an
            // index that the writer builds, takes no more memory either.
            try db.execute(sql: "PRAGMA cache_size = -2000; PRAGMA temp_store = FILE; PRAGMA secure_delete = 0")
            db.limitForeignFile()
            // Those of the full-text index serve `readers` alone.
            db.refuseViews()
            addFunctions(to: db, reminderDays)
        }
        return configuration
    }

    /// Migrates the file with `adapt` and returns its epoch. Closes the pool if that fails.
    private static func prepare(
        _ pool: DatabasePool, at path: String, _ plans: RecordPlans, while goesOn: @escaping @Sendable () -> Bool,
        _ adapt: () throws -> Void
    ) throws -> String {
        do {
            try prepareWriter(pool)
            try WorkWatch(goesOn).during(pool, adapt)
            let epoch = try Epoch.current(pool, path: path)
            // From here on `GroupCommit` checkpoints.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
            return epoch
        } catch {
            pool.writeWithoutTransaction { _ in plans.statements.release() }
            try? pool.close()
            throw error
        }
    }

    /// Brings the search index up to date between commits.
    private static func upkeep(
        _ plans: RecordPlans, _ catchUp: SearchCatchUp
    ) -> @Sendable () -> GroupCommit.Upkeep? {
        {
            guard plans.searchBacklog.isDue else { return nil }
            return { db in try plans.searchBacklog.work(catchUp, db) }
        }
    }

    /// The functions that the statements over records use.
    static func addFunctions(to db: Database, _ reminderDays: ReminderDays) {
        db.add(function: ExactSum.function)
        db.add(function: reminderDays.function)
    }

    /// DatabasePool sets `synchronous` to NORMAL itself while it opens, so FULL is set after that.
    private static func prepareWriter(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000")
            // A page of a first pull changes some 1,000 pages of the file; pages that do not fit are written twice.
            try db.execute(sql: "PRAGMA cache_size = -6000")
            // Active readers keep the log from shrinking; afterwards it is cut to this size.
            try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
        }
    }

    private static func migrate(
        _ pool: DatabasePool, _ plans: RecordPlans, _ sealer: SecretSealer, _ sealers: RecordSealers,
        _ reminderDays: ReminderDays, _ progress: (OpeningProgress) -> Void
    ) throws {
        let schema = plans.schema
        try Migrations.migrator().migrate(pool)
        try pool.write { db in
            try SearchTableAdapter(schema: schema, db: db).dropOutdated()
            try EntityTableAdapter.adapt(to: schema, db)
            try SealingAdapter(records: RecordTransaction(db, plans, isSilent: true), sealer: sealer).adapt()
        }
        try TableBackfill.run(pool, plans, progress)
        try pool.write { db in
            let now = try lastEntry(db)
            plans.searchBacklog.add(try SearchTableAdapter(schema: schema, db: db).build())
            try DerivedRefresh(records: RecordTransaction(db, plans), now: now).adapt()
            try ReminderAdapter(schema: schema, days: reminderDays, db: db).adapt()
            try DriftTable.adapt(schema, sealers, db)
            try LocalRecords.note(schema, db)
            try plans.added.load(schema, db)
            for entity in schema.entities { try plans[entity.name]?.given?.load(db) }
        }
        try SealingAdapter.scrub(pool)
        // Readers' prepared statements for the older tables would fail once: start with new ones.
        pool.releaseMemory()
    }

    private static func layLateChanges(
        _ pool: DatabasePool, _ plans: RecordPlans, _ sealers: RecordSealers, _ makeID: @escaping @Sendable () -> String
    ) throws {
        try pool.write { db in
            let context = WriteContext(
                records: RecordTransaction(db, plans), now: try lastEntry(db), clockOffset: .zero, makeID: makeID,
                sealers: sealers)
            try QueueImport(context: context, settings: [:]).layLate()
            try context.finish()
        }
    }

    /// The time of the last entry in the change log.
    private static func lastEntry(_ db: Database) throws -> Timestamp {
        let latest = try Int64.fetchOne(db, sql: "SELECT at FROM sync_change_log ORDER BY seq DESC LIMIT 1")
        return Timestamp(milliseconds: latest ?? 0)
    }

    // MARK: Transactions

    /// A transaction that may change records: what it makes stale is refreshed at its end.
    func change<Result: Sendable>(
        at now: Timestamp, _ body: @escaping @Sendable (WriteContext) throws -> Result
    ) async throws -> Result {
        try await writer.write { [self] db in
            let context = context(db, at: now)
            let result = try body(context)
            try context.finish()
            return result
        }
    }

    /// One read outside any transaction, for a single statement: it is its own snapshot.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try pool.unsafeRead(body)
        } catch {
            throw damage.classified(error)
        }
    }

    /// Several reads in one snapshot.
    func snapshot<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try pool.read(body)
        } catch {
            throw damage.classified(error)
        }
    }

    /// Releases the files; the store cannot be used afterwards.
    package func close() throws {
        signal.close()
        readers.close()
        longReads.close()
        // The pool closes its writer first, so its last connection could not do this.
        do {
            try pool.writeWithoutTransaction { db in
                statements.release()
                _ = try db.checkpoint(.truncate)
            }
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_FULL].contains(error.resultCode) {
            // Another process reads, or the disk is full: the log stays, and the next start continues from it.
        }
        try pool.close()
    }
}
