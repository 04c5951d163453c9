package import EntitySchema
internal import GRDB
internal import GRDBSQLite
package import SQLiteStore
package import Secrets
internal import Synchronization

/// The configured settings of a cache.
package struct CacheSettings: Sendable {
    var reminderDays: ReminderDays
    /// The hooks whose events are logged.
    var hooks: [HookRule]
    /// How many threads read records at once; further reads wait.
    var readerCount: Int

    package init(reminderDays: ReminderDays = .utc, hooks: [HookRule] = [], readerCount: Int = 2) {
        self.reminderDays = reminderDays
        self.hooks = hooks
        self.readerCount = readerCount
    }
}

/// The SQLite cache of one upstream and account: records, queue, cursors and change log.
///
/// One writing connection, grouped commits, `synchronous=FULL`: an acknowledged write is on disk. Readers never wait
/// for it. What belongs together happens in one transaction, and nothing uncommitted is visible.
///
/// A class only because each request of the local API copies what holds it: as a struct of this size, that took as long
/// as parsing the request.
package final class CacheStore: Sendable {
    package let schema: EntitySchema
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
    /// See `DatabaseFile.logNumber`.
    let logNumber: UInt64?

    /// Opens or creates the database at `path` and adapts its tables to `schema`, keeping records and queue. Secret
    /// fields are stored only as `sealer` seals them.
    ///
    /// `preview`: an open preview of the same file, if there is one.
    ///
    /// Throws `.incompatible` for a file of a newer version or one sealed with another key, and `.damaged` for a
    /// damaged one; both stay as they are, log included. Throws `.unwritable` when the file cannot be used now, and
    /// `CancellationError` when `watch` stops the opening.
    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, settings: CacheSettings = CacheSettings(),
        preview: sending DatabasePreview? = nil, watch: OpeningWatch = OpeningWatch(),
        runtime: GroupCommit.Runtime = GroupCommit.Runtime(), makeID: @escaping @Sendable () -> String
    ) throws {
        self.schema = schema
        self.makeID = makeID
        reminderDays = settings.reminderDays
        hooks = settings.hooks
        uptime = runtime.uptime
        sealers = RecordSealers(schema, sealer)
        var numbers = StatementNumbers()
        queries = FixedQueries(schema, sealers, &numbers)
        plans = RecordPlans(schema, hooks: hooks, &numbers, noting: sealers.added, marks: sealers.marks)
        searchCatchUp = SearchCatchUp(schema: schema)
        let preview = preview ?? DatabasePreview(path: path)
        let opening = CacheOpening(
            path: path, plans: plans, sealer: sealer, sealers: sealers, reminderDays: reminderDays, makeID: makeID)
        (pool, epoch) = try opening.run(preview, watch)
        logNumber = DatabaseFile(path).logNumber
        readers = ReaderPool(path: path, damage: damage, count: settings.readerCount, first: preview.connection)
        filterContext = FilterContext(schema: schema, sealers: sealers, readers: readers)
        writer = GroupCommit(
            writer: pool, readers: readers, runtime: runtime, damage: damage, committed: signal.announce,
            upkeep: Self.upkeep(plans, searchCatchUp))
        longReads = LongReads(path: path, damage: damage, writer: writer, uptime: uptime)
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

    /// Returns when the writer has run. A full disk is no standstill.
    package func awaitWriter() async { try? await writer.write { _ in } }

    /// Returns when the writer has run, or has got on with a transaction that takes long, such as the deletion of a record with
    /// millions of others: for a watchdog. Returns when cancelled, too.
    package func awaitWriterProgress(_ clock: any Clock<Duration>) async {
        let before = writer.moment
        // Not awaited: it waits for the transaction under way.
        Task { await awaitWriter() }
        while writer.moment == before, (try? await clock.sleep(for: .milliseconds(50))) != nil {}
    }

    func table(_ entity: String) throws(CacheError) -> EntityTable { try reading(entity).table }

    /// For writing inside the transaction that is open on `db`.
    func context(
        _ db: Database, at now: Timestamp, clockOffset: Duration = .zero, trace: TraceContext? = nil
    ) -> WriteContext {
        WriteContext(
            records: RecordTransaction(db, plans), now: now, clockOffset: clockOffset, makeID: makeID,
            sealers: sealers, trace: trace)
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
        } catch {
            throw CacheError.classified(error)
        }
        try pool.close()
    }
}
