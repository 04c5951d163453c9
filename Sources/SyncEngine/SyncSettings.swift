/// When to sync and how patiently to retry.
package struct SyncSettings: Sendable, Equatable {
    /// Between two pulls; each wait varies by ± 10 % so that many machines do not call at once.
    package var interval: Duration
    /// After a local write, so that a burst goes out together.
    package var writeDelay: Duration
    /// Requests in flight while pushing.
    package var parallel: Int
    package var retry: RetryPolicy

    package init(
        interval: Duration = .seconds(900), writeDelay: Duration = .milliseconds(100), parallel: Int = 4,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.interval = interval
        self.writeDelay = writeDelay
        self.parallel = parallel
        self.retry = retry
    }
}
