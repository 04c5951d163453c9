internal import EntitySchema

/// Spaces out exchanges whose answers say nothing about what was sent: half a minute, doubling to a quarter of an hour.
///
/// Only in memory: such an answer locks no account, and a restart may try at once.
struct UnclearPace {
    private var last: (subject: String, message: String, time: Timestamp)?
    private var count = 0

    private static let firstWait = Duration.seconds(30)
    private static let longestWait = Duration.seconds(15 * 60)

    private var wait: Duration { Self.firstWait.doubled(count - 1, atMost: Self.longestWait) }

    /// Throws while `subject`, which names what would be sent, must wait.
    func check(_ subject: String, at now: Timestamp) throws(UpstreamError) {
        guard let last, last.subject == subject, (.zero..<wait).contains(now.since(last.time)) else { return }
        throw .throttled(wait - now.since(last.time), "\(last.message). The next attempt is at \(last.time + wait)")
    }

    /// Returns the error to throw.
    mutating func note(_ subject: String, _ message: String, at now: Timestamp) -> UpstreamError {
        count = last?.subject == subject ? count + 1 : 1
        last = (subject, message, now)
        return .throttled(wait, "\(message). The next attempt is at \(now + wait)")
    }

    mutating func clear() {
        last = nil
        count = 0
    }
}
