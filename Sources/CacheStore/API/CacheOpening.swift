internal import EntitySchema
internal import GRDB
internal import SQLiteStore
internal import Secrets

/// Watches a database being opened, which can take long.
package struct OpeningWatch: Sendable {
    /// Called repeatedly; false stops the opening and undoes the current step.
    var goesOn: @Sendable () -> Bool
    /// Called after each step of a long adaptation.
    var progress: @Sendable (OpeningProgress) -> Void

    package init(
        goesOn: @escaping @Sendable () -> Bool = { true },
        progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in }
    ) {
        self.goesOn = goesOn
        self.progress = progress
    }
}

/// Opens a database for writing: checks it, migrates it, and adapts its tables to the schema.
struct CacheOpening {
    let path: String
    let plans: RecordPlans
    let sealer: SecretSealer
    let sealers: RecordSealers
    let reminderDays: ReminderDays
    let makeID: @Sendable () -> String

    /// Returns the connections and the epoch of the file. `preview` is closed last, to preserve the log of a damaged
    /// file.
    func run(_ preview: DatabasePreview, _ watch: OpeningWatch) throws -> (DatabasePool, epoch: String) {
        let isNew = preview.mark == nil
        do {
            try DatabaseFile.requireRegular(path)
            try preview.check()
            let pool = try DatabasePool(path: path, configuration: configuration)
            return (pool, try prepare(pool, watch))
        } catch {
            withExtendedLifetime(preview) {}
            throw classified(error, isNew: isNew)
        }
    }

    private func classified(_ error: any Error, isNew: Bool) -> any Error {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR, !isNew else {
            return CacheError.classified(error)
        }
        // Our own statements fail here only if the tables are not as we created them.
        return CacheError.damaged("the tables of \(path) are damaged (\(error.message ?? "no reason"))")
    }

    // MARK: Connections

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .timeout(5)
        configuration.label = "cache"
        configuration.prepareDatabase { [reminderDays] db in
            // 2 MiB per connection: the kernel caches the file, and five connections must stay small. Sorting and
            // building indexes use no more memory either.
            try db.execute(sql: "PRAGMA cache_size = -2000; PRAGMA temp_store = FILE; PRAGMA secure_delete = 0")
            db.limitForeignFile()
            // The functions of the full-text index serve `CacheStore.readers` alone.
            db.refuseViews()
            Self.addFunctions(to: db, reminderDays)
        }
        return configuration
    }

    /// The functions that the statements over records use.
    static func addFunctions(to db: Database, _ reminderDays: ReminderDays) {
        db.add(function: ExactSum.function)
        db.add(function: reminderDays.function)
    }

    /// DatabasePool sets `synchronous` to NORMAL itself while it opens, so FULL is set after that.
    private func prepareWriter(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000")
            // One page of a first pull changes about 1,000 pages of the file; those that do not fit are written twice.
            try db.execute(sql: "PRAGMA cache_size = -6000")
            // Active readers keep the log from shrinking; afterwards it is cut to this size.
            try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
        }
    }

    // MARK: Tables

    /// Migrates the file and returns its epoch. Closes the pool if that fails.
    private func prepare(_ pool: DatabasePool, _ watch: OpeningWatch) throws -> String {
        do {
            try prepareWriter(pool)
            try WorkWatch(watch.goesOn).during(pool) {
                try migrate(pool, watch.progress)
                try layLateChanges(pool)
            }
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

    private func migrate(_ pool: DatabasePool, _ progress: (OpeningProgress) -> Void) throws {
        let schema = plans.schema
        try Migrations.migrator().migrate(pool)
        try pool.write { db in
            try SearchTableAdapter(schema: schema, db: db).dropOutdated()
            try EntityTableAdapter.adapt(to: schema, db)
            try LostDeletions.release(schema, db)
            try SealingAdapter(records: RecordTransaction(db, plans, isSilent: true), sealer: sealer).adapt()
        }
        try TableBackfill.run(pool, plans, progress)
        try pool.write { db in
            let now = try lastEntry(db)
            for entity in schema.entities { try plans[entity.name]?.marks.load(db) }
            plans.searchBacklog.add(try SearchTableAdapter(schema: schema, db: db).build())
            try DerivedRefresh(records: RecordTransaction(db, plans), now: now).adapt()
            try ReminderAdapter(schema: schema, days: reminderDays, db: db).adapt()
            try DriftTable.adapt(schema, sealers, db)
            try LocalRecords.note(schema, db)
            try plans.added.load(schema, db)
        }
        try SealingAdapter.scrub(pool)
        // Readers' prepared statements for the older tables would fail once: start with new ones.
        pool.releaseMemory()
    }

    private func layLateChanges(_ pool: DatabasePool) throws {
        try pool.write { db in
            let context = WriteContext(
                records: RecordTransaction(db, plans), now: try lastEntry(db), clockOffset: .zero, makeID: makeID,
                sealers: sealers)
            try QueueImport(context: context, settings: [:]).layLate()
            try context.finish()
        }
    }

    /// The time of the last entry in the change log.
    private func lastEntry(_ db: Database) throws -> Timestamp {
        let latest = try Int64.fetchOne(db, sql: "SELECT at FROM sync_change_log ORDER BY seq DESC LIMIT 1")
        return Timestamp(milliseconds: latest ?? 0)
    }
}
