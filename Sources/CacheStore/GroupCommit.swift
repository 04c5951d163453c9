internal import Dispatch
internal import GRDB
internal import JSONText
internal import Synchronization

/// Runs writes from many callers in as few transactions as possible.
///
/// Whatever is waiting when the writer gets free goes into one transaction, each piece in a savepoint of its own, so one
/// that throws undoes only itself. A caller hears back after the commit is on disk, never before: with
/// `synchronous=FULL` one fsync then serves all who waited for it.
final class GroupCommit: Sendable {
    private struct Job: Sendable {
        /// Does the work and returns what tells the caller, with the error of the commit if that failed.
        var work: @Sendable (Database) throws -> @Sendable ((any Error)?) -> Void
        var abandon: @Sendable (any Error) -> Void
    }

    private static let largestGroup = 256

    /// Runs a commit, later and never two at once.
    typealias Schedule = @Sendable (_ commit: @escaping @Sendable () -> Void) -> Void

    private let writer: DatabasePool
    private let schedule: Schedule
    private let waiting = Mutex<[Job]>([])
    private let damage: DamageWatch
    private let committed: @Sendable () -> Void

    /// `committed` is called after each commit, before those who wrote hear of it.
    init(
        writer: DatabasePool, schedule: @escaping Schedule, damage: DamageWatch,
        committed: @escaping @Sendable () -> Void
    ) {
        self.writer = writer
        self.damage = damage
        self.schedule = schedule
        self.committed = committed
    }

    static func onQueue() -> Schedule {
        let queue = DispatchQueue(label: "cache-writer")
        return { commit in queue.async(execute: commit) }
    }

    /// Throws what `body` threw, with its changes undone, or `CacheError.unwritable` when the commit failed.
    func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                work: { db in
                    let result = try Self.inSavepoint(db, body)
                    return { error in
                        if let error {
                            continuation.resume(throwing: error)
                        } else {
                            continuation.resume(returning: result)
                        }
                    }
                },
                abandon: { continuation.resume(throwing: $0) })
            let isFirst = waiting.withLock { jobs in
                jobs.append(job)
                return jobs.count == 1
            }
            if isFirst { schedule { self.commitWaiting() } }
        }
    }

    private func commitWaiting() {
        // The list is left non-empty while its jobs run, so that callers arriving meanwhile only join it.
        while true {
            let group = waiting.withLock { Array($0.prefix(Self.largestGroup)) }
            commit(group)
            let isEmpty = waiting.withLock { jobs in
                jobs.removeFirst(group.count)
                return jobs.isEmpty
            }
            if isEmpty { return }
        }
    }

    private func commit(_ group: [Job]) {
        var answers: [@Sendable ((any Error)?) -> Void] = []
        var failure: (any Error)?
        do {
            try writer.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    for job in group {
                        do {
                            answers.append(try job.work(db))
                        } catch {
                            // An I/O error may have rolled everything back: then nobody's work is in the transaction.
                            guard db.isInsideTransaction else { throw error }
                            let error = damage.sorted(error)
                            answers.append { _ in job.abandon(error) }
                        }
                    }
                    return .commit
                }
            }
            committed()
        } catch {
            failure = damage.sorted(error)
        }
        guard let failure, answers.count < group.count else {
            for answer in answers { answer(failure) }
            return
        }
        // The transaction did not come to its end: nobody's work is on disk.
        for job in group { job.abandon(failure) }
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

    /// SQLite's errors as the case that says what they mean for the caller; any other as it is.
    ///
    /// What is parsed in here, by us or by SQLite, was checked before it was stored: text that is no JSON any more is damage.
    static func sorted(_ error: any Error) -> any Error {
        if let error = error as? JSONError {
            return CacheError.damaged("the database is damaged (a stored text is \(error))")
        }
        guard let error = error as? DatabaseError else { return error }
        // A failed copy tells the reason by its code alone.
        let said = error.message.flatMap { $0 == "not an error" ? nil : $0 }
        let reason = said ?? error.resultCode.description
        let damaged = CacheError.damaged("the database is damaged (\(reason))")
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_CANTOPEN:
            return CacheError.unwritable(
                "the database cannot be written (\(reason)); check the disk")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged
        case .SQLITE_ERROR where reason == "malformed JSON": return damaged
        default:
            return CacheError.failed(
                "the database answered \(error.resultCode): \(reason); please report this")
        }
    }
}
