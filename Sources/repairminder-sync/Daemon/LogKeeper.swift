import CacheStore
import EntitySchema
import Logging
import SQLiteStore

/// Prunes the change log to its limits in small batches while nothing is syncing.
struct LogKeeper {
    let store: CacheStore
    let limits: LogLimits
    /// Nothing is pruned while this returns true.
    let isBusy: @Sendable () async -> Bool
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>
    let log: Logger

    /// The time between runs.
    private static let interval = Duration.seconds(600)
    /// The pause between batches, which leaves the disk to other work.
    private static let pause = Duration.milliseconds(50)

    /// Runs until the task is cancelled.
    func run() async throws {
        while true {
            try await clock.sleep(for: Self.interval)
            do {
                try await prune()
            } catch let error as CacheError {
                log.warning("pruning the change log failed; will retry", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Prunes until the log is within its limits or `isBusy` returns true.
    func prune() async throws {
        var count = 0
        while await !isBusy() {
            let pruned = try await store.pruneLog(to: limits, at: now())
            count += pruned
            guard pruned > 0 else { break }
            try await clock.sleep(for: Self.pause)
        }
        if count > 0 { log.info("pruned the change log", metadata: ["rows": "\(count)"]) }
    }
}
