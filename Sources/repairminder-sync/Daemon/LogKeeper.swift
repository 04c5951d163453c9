import CacheStore
import EntitySchema
import Logging
import SQLiteStore

/// Prunes the change log to its limits in small batches while nothing is syncing.
///
/// A slow or hostile upstream can keep a sync running without end, and the log would fill the disk. So pruning that has
/// waited for an hour runs during a sync too.
struct LogKeeper {
    let store: CacheStore
    let limits: LogLimits
    /// While this returns true, pruning waits for a later run.
    let isBusy: @Sendable () async -> Bool
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>
    let log: Logger

    /// The time between runs.
    private static let interval = Duration.seconds(600)
    /// The pause between batches, which leaves the disk to other work.
    private static let pause = Duration.milliseconds(50)
    /// How many runs in a row may leave something to prune before one also runs during a sync.
    private static let mostUnfinished = 6

    /// Runs until the task is cancelled.
    func run() async throws {
        var unfinished = 0
        while true {
            try await clock.sleep(for: Self.interval)
            do {
                let isDone = try await prune(duringSync: unfinished >= Self.mostUnfinished)
                unfinished = isDone ? 0 : unfinished + 1
            } catch let error as CacheError {
                log.warning("pruning the change log failed; will retry", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Prunes until the log is within its limits or, unless `duringSync`, until `isBusy`; returns whether it is within.
    private func prune(duringSync: Bool) async throws -> Bool {
        var count = 0
        var isDone = false
        while !isDone {
            if !duringSync, await isBusy() { break }
            let pruned = try await store.pruneLog(to: limits, at: now())
            count += pruned
            isDone = pruned == 0
            if !isDone { try await clock.sleep(for: Self.pause) }
        }
        if count > 0 { log.info("pruned the change log", metadata: ["rows": "\(count)"]) }
        return isDone
    }
}
