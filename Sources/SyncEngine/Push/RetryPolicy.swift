/// How long a change waits for its next attempt, and when it is given up.
package struct RetryPolicy: Sendable, Equatable {
    package var maximumAttempts: Int
    package var base: Duration
    package var cap: Duration

    package init(maximumAttempts: Int = 10, base: Duration = .seconds(2), cap: Duration = .seconds(300)) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.cap = cap
    }

    /// Exponential backoff with full jitter: anything from nothing to the longest. `random` is in 0..<1.
    package func delay(attempt: Int, random: Double) -> Duration { longest(attempt: attempt) * random }

    /// base × 2^(attempt − 1), at most `cap`; `attempt` counts from 1.
    ///
    /// The exponent is capped before it is raised, so no attempt is too many.
    func longest(attempt: Int) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        return min(base * (1 << doublings), cap)
    }

    package func isLast(attempt: Int) -> Bool { attempt >= maximumAttempts }
}
