package import EntitySchema
internal import GRDB
internal import GRDBSQLite
package import SQLiteStore
package import Secrets
internal import Synchronization

/// The SQLite cache of one upstream and account: records, queue, cursors and change log.
///
/// One writing connection, grouped commits, `synchronous=FULL`: what was answered is on disk. Readers never wait for it.
/// What belongs together happens in one transaction; what is not committed is seen by no one.
package struct CacheStore: Sendable {
    let schema: EntitySchema
    let pool: DatabasePool
    /// For records and lists; `pool` reads all else.
    let readers: ReaderPool
    let writer: GroupCommit
    let damage = DamageWatch()
    let sealers: RecordSealers
    /// Makes record ids and idempotency keys.
    let makeID: @Sendable () -> String
    /// The statement for one record, by entity: built once, since it is what is asked for most.
    let selectOne: [String: String]
    let searchRenewal: SearchRenewal
    /// Wakes whoever waits for the next commit.
    package let signal = ChangeSignal()
    /// Names the file that the change log's numbers belong to.
    package let epoch: String

    /// Opens, or makes, the database at `path` and fits its tables to `schema`, keeping records and queue. What the schema
    /// calls secret is stored as `sealer` seals it, never otherwise.
    ///
    /// `readerCount`: as many as threads that read records at once; more wait for one another. `schedule` runs a commit
    /// later, never two at once; nil leaves that to a queue of the store's own. `goesOn` is asked
    /// again and again while opening takes long; false undoes what was begun. Throws `.incompatible` for a file of a newer
    /// version or one sealed with another key, `.damaged` for one that is (both are left as they are, log included),
    /// `.unwritable` when it cannot be used now, and `CancellationError` after `goesOn` was false.
    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, reminderDays: ReminderDays = .utc,
        readerCount: Int = 2,
        goesOn: @escaping @Sendable () -> Bool = { true },
        schedule: (@Sendable (_ commit: @escaping @Sendable () -> Void) -> Void)? = nil,
        makeID: @escaping @Sendable () -> String
    ) throws {
        self.schema = schema
        self.makeID = makeID
        sealers = RecordSealers(schema, sealer)
        selectOne = Dictionary(
            uniqueKeysWithValues: schema.entities.map { ($0.name, RecordSelect(table: EntityTable(entity: $0)).one) })
        searchRenewal = SearchRenewal(schema: schema)
        let mark = OpeningCheck.mark(of: path)
        let isNew = mark == nil
        let guardian = LogGuardian(path: path)
        defer { guardian?.close() }
        do {
            try OpeningCheck(path: path, mark: mark).run()
            pool = try DatabasePool(path: path, configuration: Self.configuration(reminderDays))
            do {
                try Self.prepareWriter(pool)
                try WorkWatch(goesOn).during(pool) { [pool, sealers] in
                    try Self.migrate(pool, schema, sealer, sealers, reminderDays)
                }
                epoch = try Epoch.current(pool, path: path)
                readers = try ReaderPool(path: path, damage: damage, count: readerCount)
            } catch {
                try? pool.close()
                throw error
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR && !isNew {
            // Statements of ours that fail here every time meet tables that are not as we made them.
            throw CacheError.damaged("the tables of \(path) are damaged (\(error.message ?? "no reason"))")
        } catch {
            throw GroupCommit.classified(error)
        }
        writer = GroupCommit(
            writer: pool, schedule: schedule ?? GroupCommit.onQueue(), damage: damage,
            finish: searchRenewal.runWhereDue, committed: signal.announce)
    }

    /// Returns when the writer has got round to it: for a watchdog. That the disk is full is no standstill.
    package func awaitWriter() async {
        try? await writer.write { _ in }
    }

    func table(_ entity: String) throws(CacheError) -> EntityTable {
        guard let entity = schema[entity] else { throw CacheError.notFound("no entity \(entity)") }
        return EntityTable(entity: entity)
    }

    /// For writing inside the transaction that is open on `db`.
    func context(_ db: Database, at now: Timestamp, clockOffset: Duration = .zero) -> WriteContext {
        WriteContext(
            schema: schema, db: db, now: now, clockOffset: clockOffset, makeID: makeID, sealers: sealers)
    }

    // MARK: Opening

    private static func configuration(_ reminderDays: ReminderDays) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .timeout(5)
        configuration.label = "cache"
        configuration.prepareDatabase { db in
            // 2 MiB a connection: the kernel caches the file, and five connections must stay small.
            try db.execute(sql: "PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = 0")
            db.add(function: ExactSum.function)
            db.add(function: reminderDays.function)
        }
        return configuration
    }

    /// DatabasePool sets `synchronous` to NORMAL itself while it opens, so FULL is set after that.
    private static func prepareWriter(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000")
            // A page of a first pull changes some 1,000 pages of the file; what finds no room is written twice.
            try db.execute(sql: "PRAGMA cache_size = -6000")
            // Readers at work keep the log from shrinking; this is what it is cut to afterwards.
            try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
        }
    }

    private static func migrate(
        _ pool: DatabasePool, _ schema: EntitySchema, _ sealer: SecretSealer, _ sealers: RecordSealers,
        _ reminderDays: ReminderDays
    ) throws {
        try Migrations.migrator().migrate(pool)
        try pool.write { db in
            let search = SearchTableAdapter(schema: schema, db: db)
            let reminders = ReminderAdapter(schema: schema, days: reminderDays, db: db)
            try search.dropOutdated()
            try reminders.dropOutdated()
            try EntityTableAdapter.adapt(to: schema, db)
            try SealingAdapter(schema: schema, sealer: sealer, db: db).adapt()
            try DerivedRefresh.adapt(to: schema, db)
            try search.build()
            try reminders.build()
            try DriftTable.adapt(schema, sealers, db)
            try LocalRecords.note(schema, db)
        }
        try SealingAdapter.scrub(pool)
        // Last, since the scrub takes temporary tables away.
        try pool.writeWithoutTransaction { db in try db.execute(sql: IncomingRecords.createTable) }
        // Prepared statements of readers that saw older tables would fail once: start from a fresh set.
        pool.releaseMemory()
    }

    // MARK: Transactions

    /// A transaction that may change records: what it makes stale is worked out at its end.
    func change<Result: Sendable>(
        at now: Timestamp, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await writer.write { db in
            let result = try body(db)
            try DerivedRefresh(schema: schema, db: db, now: now).work()
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

    /// Releases the files; nothing may be asked of the store afterwards.
    package func close() throws {
        signal.close()
        readers.close()
        // The pool closes its writer first, so the last connection could not do this.
        do {
            try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Somebody beside us reads: the log stays, and the next start goes on from it.
        }
        try pool.close()
    }
}
