internal import Dispatch
package import GRDB
internal import JSONText
internal import Synchronization

/// Runs writes from many callers in as few transactions as possible.
///
/// Everything that waits when the writer becomes free goes into one transaction, until that has taken long: then the rest
/// goes into the next one. A job that throws undoes only its own changes: if it made any, the transaction is rolled back and,
/// unless that job was its first, run again with each job in its own savepoint. Savepoints cost too much, in the journal and
/// in FTS5, to take one for every job. A caller resumes after the commit is on disk, never before: with `synchronous=FULL`,
/// one fsync serves everyone who waited for it.
package final class GroupCommit: Sendable {
    private typealias Answer = @Sendable () -> Void

    private struct Job: Sendable {
        /// Does the work; returns what resumes the caller once the work is on disk.
        var work: @Sendable (Database) throws -> Answer
        var abandon: @Sendable (any Error) -> Void
    }

    private static let largestGroup = 256
    /// A transaction that has taken this long takes no further job: the callers of those in it wait for its end.
    private static let longest = Duration.milliseconds(500)

    /// Runs a commit later, and never two at once.
    package typealias Schedule = @Sendable (_ commit: @escaping @Sendable () -> Void) -> Void
    /// The time since some moment. It never goes back.
    package typealias Uptime = @Sendable () -> Duration

    private let writer: DatabasePool
    private let readers: ReaderPool
    private let log = WriteAheadLog()
    private let schedule: Schedule
    private let waiting = Mutex<[Job]>([])
    /// How many of them the transaction under way has.
    private let running = Atomic(0)
    private let pulse = WriterPulse()
    private let damage: DamageWatch
    private let committed: @Sendable () -> Void
    private let upkeep: @Sendable () -> Upkeep?
    private let uptime: Uptime

    /// Work of the database's own, for which no caller waits.
    package typealias Upkeep = @Sendable (Database) throws -> Void

    /// `committed` runs after each commit, before the writers resume. Then `upkeep` says what is due: it has a transaction of
    /// its own, and one that fails is due again.
    package init(
        writer: DatabasePool, readers: ReaderPool, schedule: @escaping Schedule, damage: DamageWatch,
        committed: @escaping @Sendable () -> Void, upkeep: @escaping @Sendable () -> Upkeep?,
        uptime: @escaping Uptime = GroupCommit.uptime()
    ) {
        self.writer = writer
        self.readers = readers
        self.damage = damage
        self.schedule = schedule
        self.committed = committed
        self.upkeep = upkeep
        self.uptime = uptime
    }

    package static func onQueue() -> Schedule {
        let queue = DispatchQueue(label: "cache-writer")
        return { commit in queue.async(execute: commit) }
    }

    package static func uptime() -> Uptime {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }

    /// Throws what `body` threw, with its changes undone, or `CacheError.unwritable` when the commit failed. `body` may
    /// be called twice, with the changes of the first call undone; anything else it does must be idempotent.
    package func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                work: { db in
                    let result = try body(db)
                    return { continuation.resume(returning: result) }
                },
                abandon: { continuation.resume(throwing: $0) })
            let isFirst = waiting.withLock { jobs in
                jobs.append(job)
                return jobs.count == 1
            }
            if isFirst { schedule { self.commitWaiting() } }
        }
    }

    /// Another one than before once a transaction has ended, or SQLite has worked on one for a while.
    package var moment: UInt64 { pulse.moment }

    /// Whether other writes wait for the transaction under way. Ask inside of it.
    package var isAwaited: Bool { waiting.withLock { $0.count } > running.load(ordering: .relaxed) }

    private func commitWaiting() {
        // The list stays non-empty while its jobs run, so that callers arriving meanwhile only join it.
        while true {
            let group = waiting.withLock { Array($0.prefix(Self.largestGroup)) }
            running.store(group.count, ordering: .relaxed)
            let count = commit(group)
            pulse.beat()
            if let work = upkeep() { keepUp(work) }
            if log.isLong { checkpoint() }
            let isEmpty = waiting.withLock { jobs in
                jobs.removeFirst(count)
                return jobs.isEmpty
            }
            if isEmpty { return }
        }
    }

    /// Returns how many of the jobs are done: the first ones, at least one.
    private func commit(_ group: [Job]) -> Int {
        let answers: [Answer]
        var reached = 0
        do {
            answers = try run(group, apart: false, &reached) ?? run(group, apart: true, &reached) ?? []
            committed()
        } catch {
            // The transaction did not complete: no job's work is on disk. Those that it has not come to are not its cause.
            let failure = damage.classified(error)
            let failed = reached == 0 ? group.count : reached
            for job in group.prefix(failed) { job.abandon(failure) }
            return failed
        }
        for answer in answers { answer() }
        return answers.count
    }

    /// Runs the group in one transaction and commits it: the first jobs of it, if they take long. With `apart`, each job
    /// has its own savepoint. Returns nil, with nothing done, if a job needs a savepoint and had none. `reached` becomes the number
    /// of jobs that had their turn.
    private func run(_ group: [Job], apart: Bool, _ reached: inout Int) throws -> [Answer]? {
        var answers: [Answer]? = []
        reached = 0
        try transaction { db in
            let start = uptime()
            for (number, job) in group.enumerated() {
                if number > 0, uptime() - start >= Self.longest { break }
                reached = number + 1
                let before = db.totalChangesCount
                do {
                    answers?.append(try apart ? Self.inSavepoint(db, job.work) : job.work(db))
                } catch {
                    // An I/O error may have rolled everything back: then no job's work is in the transaction.
                    guard db.isInsideTransaction else { throw error }
                    let isUnclean = !apart && db.totalChangesCount != before
                    if isUnclean, number > 0 {
                        answers = nil
                        return .rollback
                    }
                    let error = damage.classified(error)
                    answers?.append { job.abandon(error) }
                    // Nothing else is undone with it; those behind it come into the next transaction.
                    if isUnclean { return .rollback }
                }
            }
            return .commit
        }
        return answers
    }

    private func keepUp(_ work: Upkeep) {
        do {
            try transaction { db in
                try work(db)
                return .commit
            }
        } catch {
            // No caller waits for the error, but damage is reported.
            _ = damage.classified(error)
        }
    }

    private func transaction(_ body: (Database) throws -> Database.TransactionCompletion) throws {
        defer { readers.endCommit() }
        try writer.writeWithoutTransaction { db in
            try pulse.during(db) {
                try db.inTransaction(.immediate) {
                    let end = try body(db)
                    readers.beginCommit()
                    return end
                }
            }
            log.noteCommit(of: db)
        }
    }

    private func checkpoint() {
        writer.writeWithoutTransaction { db in log.checkpoint(db) }
        readers.endCommit()
    }

    private static func inSavepoint<Result>(_ db: Database, _ body: (Database) throws -> Result) throws -> Result {
        var result: Result?
        try db.inSavepoint {
            result = try body(db)
            return .commit
        }
        guard let result else { throw CacheError.conflict("the write was rolled back; try again") }
        return result
    }

    /// Translates an error of SQLite to the case that says what it means for the caller; returns any other unchanged.
    ///
    /// Stored text was validated before it was stored, so text that is no longer JSON, to us or to SQLite, means
    /// damage. So does a path into JSON that is invalid: the paths are part of the tables' definitions.
    package static func classified(_ error: any Error) -> any Error {
        if let error = error as? JSONError {
            return CacheError.damaged("the database is damaged (a stored text is \(error))")
        }
        guard let error = error as? DatabaseError else { return error }
        // A failed copy has the reason only in its code.
        let said = error.message.flatMap { $0 == "not an error" ? nil : $0 }
        let reason = said ?? error.resultCode.description
        let damaged = CacheError.damaged("the database is damaged (\(reason))")
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_CANTOPEN:
            return CacheError.unwritable(
                "the database cannot be written (\(reason)); check the disk and its free space")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged
        case .SQLITE_TOOBIG:
            return CacheError.failed(
                "the database has a value of more than \(ForeignFile.longestValue >> 20) MiB, which the daemon never stores, so "
                    + "another program has changed it; restore a backup, or set it aside (repairminder-sync database set-aside)"
            )
        case .SQLITE_NOMEM:
            return CacheError.failed(
                "reading the database takes more memory than there is, or than the \(SQLiteLibrary.memoryOfCommand) MiB of a "
                    + "command; if another program has changed it, restore a backup, or set it aside (repairminder-sync "
                    + "database set-aside)")
        case .SQLITE_ERROR where reason.hasPrefix("access to view"):
            return CacheError.damaged("the database has another program's view in place of a table (\(reason))")
        case .SQLITE_ERROR where isOfJSON(reason): return damaged
        default:
            return CacheError.failed(
                "the database returned \(error.resultCode): \(reason); please report this")
        }
    }

    /// Whether an error is about text that is no JSON. Damage has such errors, and so has a statement that takes other text
    /// for JSON, or makes some from it.
    static func isOfJSON(_ error: any Error) -> Bool {
        if error is JSONError { return true }
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR else { return false }
        return error.message.map(isOfJSON) ?? false
    }

    private static func isOfJSON(_ reason: String) -> Bool {
        reason == "malformed JSON" || reason.hasPrefix("JSON path error")
    }
}
