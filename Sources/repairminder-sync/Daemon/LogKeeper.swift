internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore

/// Keeps the change log within its limits, in idle moments and a little at a time.
struct LogKeeper {
    let store: CacheStore
    let limits: LogLimits
    /// While this says so nothing is pruned.
    let isBusy: @Sendable () async -> Bool
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>
    let log: Logger

    /// From one look at the log to the next.
    private static let interval = Duration.seconds(600)
    /// From one batch to the next, which leaves the disk to others.
    private static let pause = Duration.milliseconds(50)

    /// Runs until the task is cancelled.
    func run() async throws {
        while true {
            try await clock.sleep(for: Self.interval)
            do {
                try await prune()
            } catch let error as CacheError {
                log.warning("old changes were not forgotten; that is tried again", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Prunes until nothing is left to be, or something else is to be done.
    func prune() async throws {
        var count = 0
        while await !isBusy() {
            let pruned = try await store.pruneLog(to: limits, at: now())
            count += pruned
            guard pruned > 0 else { break }
            try await clock.sleep(for: Self.pause)
        }
        if count > 0 { log.info("forgot old changes", metadata: ["rows": "\(count)"]) }
    }
}
