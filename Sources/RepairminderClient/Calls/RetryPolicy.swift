/// How often the library repeats a call that failed for a passing reason, before it gives the error to its caller.
///
/// It repeats when the daemon is unreachable, the connection broke, or the answer is 429, 503 or `busy` with
/// `Retry-After`. A write is repeated with its idempotency key, so it is done once.
public struct RetryPolicy: Sendable, Hashable {
    /// All attempts, the first included.
    public var attempts: Int
    /// The pause before the second attempt; each later one is twice as long.
    public var firstPause: Duration
    /// The longest pause. If the daemon asks for a longer one, the error is given to the caller.
    public var longestPause: Duration

    /// Five attempts within about three seconds: enough for a restart of the daemon.
    public static let standard = RetryPolicy(attempts: 5, firstPause: .milliseconds(200), longestPause: .seconds(10))

    /// One attempt.
    public static let none = RetryPolicy(attempts: 1, firstPause: .zero, longestPause: .zero)

    /// A policy.
    public init(attempts: Int, firstPause: Duration, longestPause: Duration) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// The pause before the next attempt; nil if there is none. `attempt` counts from 1.
    func pause(after error: ClientError, attempt: Int, isRepeatable: Bool) -> Duration? {
        guard attempt < attempts else { return nil }
        var pause = min(firstPause * (1 << min(attempt - 1, 20)), longestPause)
        switch error {
        case .unreachable: break
        case .interrupted:
            guard isRepeatable else { return nil }
        case .problem(let problem):
            // Refused before anything was done, so even a call that is not repeatable may come again.
            guard problem.status == 429 || problem.status == 503 || problem.code == .busy,
                let asked = problem.retryAfter, asked <= longestPause
            else { return nil }
            pause = max(pause, asked)
        case .unexpected, .cancelled: return nil
        }
        // Several callers that failed together must not come back together.
        return pause + pause * Double.random(in: 0..<0.25)
    }
}
