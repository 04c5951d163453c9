internal import EntitySchema

/// When to sync and how patiently to retry.
package struct SyncSettings: Sendable, Equatable {
    /// Between two pulls.
    package var interval: Duration
    /// Between two full pulls, for entities that are otherwise pulled incrementally.
    package var fullEvery: Duration
    /// The share of an entity's records, 0 to 1, that a full pull may delete without confirmation.
    package var deleteGuard: Double
    /// After a local write, so that a burst goes out together.
    package var writeDelay: Duration
    /// Requests in flight while pushing.
    package var parallel: Int
    package var retry: RetryPolicy
    /// The longest that one request may take, including token renewal; a loop that is silent for longer is stuck.
    package var patience: Duration
    /// This machine's place among all, 0..<1 and always the same, by which it keeps out of step with others; nil for a
    /// machine that need not. See `SyncSchedule`.
    package var place: Double?
    /// Changes with the schema file; nil if unknown.
    package var schemaHash: String?

    package init(
        interval: Duration = .seconds(900), fullEvery: Duration = .seconds(86_400),
        deleteGuard: Double = 0.2, writeDelay: Duration = .milliseconds(100), parallel: Int = 4,
        retry: RetryPolicy = RetryPolicy(), patience: Duration = .seconds(360), place: Double? = nil,
        schemaHash: String? = nil
    ) {
        self.interval = interval
        self.fullEvery = fullEvery
        self.deleteGuard = deleteGuard
        self.writeDelay = writeDelay
        self.parallel = parallel
        self.retry = retry
        self.patience = patience
        self.place = place
        self.schemaHash = schemaHash
    }
}

/// How long a change waits for its next attempt, and after how many it fails permanently.
package struct RetryPolicy: Sendable, Equatable {
    package var maximumAttempts: Int
    package var base: Duration
    package var cap: Duration

    package init(maximumAttempts: Int = 10, base: Duration = .seconds(2), cap: Duration = .seconds(300)) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.cap = cap
    }

    /// Exponential backoff with full jitter: anything from zero to `longest`. `random` is in 0..<1.
    package func delay(attempt: Int, random: Double) -> Duration { longest(attempt: attempt) * random }

    /// After a failure that is not counted: as long as the last `pause` to twice that, between `base` and `cap`. `random` is in
    /// 0..<1.
    package func delay(after pause: Duration, random: Double) -> Duration {
        min(max(min(pause, cap), base) * (1 + random), cap)
    }

    /// base × 2^(attempt − 1), at most `cap`; `attempt` counts from 1.
    func longest(attempt: Int) -> Duration { base.doubled(attempt - 1, atMost: cap) }

    package func isLast(attempt: Int) -> Bool { attempt >= maximumAttempts }
}
