internal import Dispatch
package import GRDB
internal import Synchronization
internal import Turns

/// Runs writes from many callers in as few transactions as possible.
///
/// Everything that waits when the writer becomes free goes into one transaction, until that has taken long: then the rest
/// goes into the next one. Callers take turns, so those with few writes do not wait for all of one with many.
///
/// A job that throws undoes only its own changes: if it made any, the transaction is rolled back and, unless that job was its
/// first, run again with each job in its own savepoint. Savepoints cost too much, in the journal and in FTS5, to take one for
/// every job. A caller resumes after the commit is on disk, never before: with `synchronous=FULL`, one fsync serves everyone who
/// waited for it.
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

    /// Where commits run, and the clock that times them.
    package struct Runtime: Sendable {
        package var schedule: Schedule
        package var uptime: Uptime

        package init(
            schedule: @escaping Schedule = GroupCommit.onQueue(), uptime: @escaping Uptime = GroupCommit.uptime()
        ) {
            self.schedule = schedule
            self.uptime = uptime
        }
    }

    private let writer: DatabasePool
    private let readers: ReaderPool
    private let log: WriteAheadLog
    private let schedule: Schedule
    /// Served while a commit is scheduled or under way. Callers that arrive meanwhile only join those who wait.
    private let waiting = Mutex(ServedTurns<String, Job>())
    /// How many of those that wait the transaction under way can still take.
    private let room = Atomic(0)
    private let pulse = WriterPulse()
    private let damage: DamageWatch
    private let committed: @Sendable () -> Void
    private let upkeep: @Sendable () -> Upkeep?
    private let uptime: Uptime

    /// Work of the database's own, for which no caller waits.
    package typealias Upkeep = @Sendable (Database) throws -> Void

    /// `committed` runs after each commit, before the writers resume. Then `upkeep` says what is due: it has a transaction of
    /// its own, and one that fails is due again. `longestLog`: in pages.
    package init(
        writer: DatabasePool, readers: ReaderPool, runtime: Runtime = Runtime(), damage: DamageWatch,
        committed: @escaping @Sendable () -> Void, upkeep: @escaping @Sendable () -> Upkeep?, longestLog: Int? = nil
    ) {
        self.writer = writer
        self.readers = readers
        self.damage = damage
        schedule = runtime.schedule
        uptime = runtime.uptime
        self.committed = committed
        self.upkeep = upkeep
        log = WriteAheadLog(longest: longestLog ?? WriteAheadLog.longest)
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
    ///
    /// Callers with different names take turns; the writes of one caller keep their order. Without a name they are the daemon's.
    package func write<Result: Sendable>(
        for caller: String = "", _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                work: { db in
                    let result = try body(db)
                    return { continuation.resume(returning: result) }
                },
                abandon: { continuation.resume(throwing: $0) })
            if waiting.withLock({ $0.add(job, for: caller) }) { schedule { self.commitWaiting() } }
        }
    }

    /// Another one than before once a transaction has ended, or SQLite has worked on one for a while.
    package var moment: UInt64 { pulse.moment }

    /// Whether other writes wait for the transaction under way. Ask inside of it.
    package var isAwaited: Bool { waiting.withLock { $0.turns.count } > room.load(ordering: .relaxed) }

    /// Whether the log is longer than it should become because snapshots keep it from being copied. It begins again if no read that
    /// takes long is under way when it is copied.
    package var isLogHeld: Bool { log.isHeld }

    /// Blocks until a long log has been copied as far as snapshots allow, but for ten seconds at most.
    package func awaitLog() {
        // It is copied after the answers of a transaction, and before the next one begins.
        for _ in 1...2 {
            let end = DispatchSemaphore(value: 0)
            let job = Job(work: { _ in { end.signal() } }, abandon: { _ in end.signal() })
            if waiting.withLock({ $0.add(job, for: "") }) { schedule { self.commitWaiting() } }
            _ = end.wait(timeout: .now() + 5)
        }
    }

    private func commitWaiting() {
        while true {
            room.store(waiting.withLock { min($0.turns.count, Self.largestGroup) }, ordering: .relaxed)
            commit()
            pulse.beat()
            if let work = upkeep() { keepUp(work) }
            if log.isLong { checkpoint() }
            guard waiting.withLock({ $0.goesOn() }) else { return }
        }
    }

    /// The job whose turn it is in the transaction under way; nil when that has no room for another one.
    private func next() -> Job? {
        guard room.load(ordering: .relaxed) > 0 else { return nil }
        room.subtract(1, ordering: .relaxed)
        return waiting.withLock { $0.next() }
    }

    /// Does some of the work that waits, and answers those who asked for it.
    private func commit() {
        // Those behind the jobs that the transaction has come to stay where they are: they come into the next one.
        var group: [Job] = []
        do {
            let answers = try runNext(&group) ?? runApart(&group)
            committed()
            for answer in answers { answer() }
        } catch {
            // The transaction did not complete: no job's work is on disk.
            let failure = damage.classified(error)
            if group.isEmpty { while let job = next() { group.append(job) } }
            for job in group { job.abandon(failure) }
        }
    }

    /// Runs jobs in their turns and commits them, until that has taken long; `group` becomes those that had their turn. Returns
    /// nil, with nothing done, if one that was not the first needs to be undone.
    private func runNext(_ group: inout [Job]) throws -> [Answer]? {
        var answers: [Answer]? = []
        try transaction { db in
            let start = uptime()
            while group.isEmpty || uptime() - start < Self.longest, let job = next() {
                group.append(job)
                let before = db.totalChangesCount
                do {
                    answers?.append(try job.work(db))
                } catch {
                    let refusal = try refusal(of: job, error, db)
                    guard db.totalChangesCount != before else {
                        answers?.append(refusal)
                        continue
                    }
                    // If it is the only one, nothing else is undone with it.
                    answers = group.count == 1 ? [refusal] : nil
                    return .rollback
                }
            }
            return .commit
        }
        return answers
    }

    /// Runs the same jobs again, then others as above, and commits them, each in a savepoint of its own.
    private func runApart(_ group: inout [Job]) throws -> [Answer] {
        var answers: [Answer] = []
        try transaction { db in
            let start = uptime()
            while answers.count < group.count || uptime() - start < Self.longest {
                if answers.count == group.count {
                    guard let job = next() else { break }
                    group.append(job)
                }
                let job = group[answers.count]
                do {
                    answers.append(try Self.inSavepoint(db, job.work))
                } catch {
                    answers.append(try refusal(of: job, error, db))
                }
            }
            return .commit
        }
        return answers
    }

    /// What gives the caller the error of its job. Throws one that has ended the transaction.
    private func refusal(of job: Job, _ error: any Error, _ db: Database) throws -> Answer {
        // An I/O error may have rolled everything back: then no job's work is in the transaction.
        guard db.isInsideTransaction else { throw error }
        let error = damage.classified(error)
        return { job.abandon(error) }
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
}
