package import EntitySchema
internal import Synchronization

/// Measures how far the server's clock is ahead of this machine's, from the `Date` of its responses.
///
/// It stores the server's time relative to a monotonic clock, so the offset is right at once when this machine's clock
/// is set, without waiting for another response.
///
/// One wrong `Date` is not believed once two answers have agreed: a proxy may serve a stale one, or another server answer
/// for a moment. A difference counts as a jump of the server's clock when an answer some time later agrees with it.
package final class ServerClock: Sendable {
    private struct State {
        /// The server's time since 1970 minus the monotonic time.
        var anchor: Duration?
        /// False while the anchor comes from the previous run.
        var isMeasured = false
        /// Whether a second answer has agreed with the anchor.
        var isConfirmed = false
        /// How far the anchor may be off because of the length of the exchanges that it comes from.
        var slack = Duration.zero
        /// What answers say since they contradict the anchor, and when the first of them came.
        var claim: (anchor: Duration, since: Duration)?

        mutating func take(_ sample: Duration, slack: Duration) {
            self = State(anchor: sample, isMeasured: true, slack: slack)
        }
    }

    private let now: @Sendable () -> Timestamp
    private let monotonic: @Sendable () -> Duration
    private let state: Mutex<State>

    /// The weight of one sample. A `Date` has whole seconds, so a single one is up to half a second off.
    private static let weight = 0.2
    /// A larger difference is not noise: the server's clock was set.
    private static let largestNoise = Duration.seconds(5)
    /// Answers must agree for so long before they are believed against the anchor. A `Date` from a cache stands still
    /// meanwhile, so it cannot agree with itself.
    private static let shortestClaim = Duration.seconds(15)
    /// A longer exchange says too little about when the `Date` was written to refine the offset.
    private static let longestExchange = Duration.seconds(2)

    /// `monotonic` must also count while the machine sleeps. `initialOffset`, measured by an earlier run, holds until
    /// the first response.
    package init(
        now: @escaping @Sendable () -> Timestamp, monotonic: @escaping @Sendable () -> Duration,
        initialOffset: Duration? = nil
    ) {
        self.now = now
        self.monotonic = monotonic
        let anchor = initialOffset.map { $0 + now().sinceEpoch - monotonic() }
        state = Mutex(State(anchor: anchor))
    }

    /// The monotonic time, for `sentAt` and `receivedAt`.
    package var instant: Duration { monotonic() }

    /// How far the server is ahead now, negative when it is behind; nil before the first measurement.
    package var offset: Duration? {
        state.withLock { $0.anchor }.map { $0 + monotonic() - now().sinceEpoch }
    }

    /// Takes the `Date` of one response into account. Times are monotonic: just before the request, just after the
    /// response.
    package func observe(date: Timestamp, sentAt: Duration, receivedAt: Duration) {
        let exchange = receivedAt - sentAt
        guard exchange >= .zero else { return }
        // The Date is cut to whole seconds, and was written somewhere between the two.
        let sample = date.sinceEpoch + .milliseconds(500) - (sentAt + receivedAt) / 2
        state.withLock { state in
            guard let anchor = state.anchor, state.isMeasured else { return state.take(sample, slack: exchange / 2) }
            let distance = Self.distance(sample, anchor) - exchange / 2
            if distance <= Self.largestNoise {
                state.isConfirmed = true
                state.claim = nil
                guard exchange <= Self.longestExchange else { return }
                state.anchor = anchor + (sample - anchor) * Self.weight
                state.slack += (exchange / 2 - state.slack) * Self.weight
            } else if !state.isConfirmed || distance <= Self.largestNoise + state.slack {
                state.take(sample, slack: exchange / 2)
            } else {
                Self.hear(sample, exchange, at: receivedAt, &state)
            }
        }
    }

    /// An answer contradicts the anchor.
    private static func hear(_ sample: Duration, _ exchange: Duration, at time: Duration, _ state: inout State) {
        guard let claim = state.claim, distance(sample, claim.anchor) - exchange / 2 <= largestNoise else {
            state.claim = (sample, time)
            return
        }
        guard time - claim.since >= shortestClaim else { return }
        state.take(sample, slack: exchange / 2)
        state.isConfirmed = true
    }

    private static func distance(_ one: Duration, _ other: Duration) -> Duration {
        max(one - other, other - one)
    }
}

extension ServerClock {
    func observe(_ response: HTTPResponse, sentAt: Duration) {
        guard let date = response.date else { return }
        observe(date: date, sentAt: sentAt, receivedAt: instant)
    }
}

extension HTTPResponse {
    /// When the server wrote it, by its own clock. Nil for a response from a cache on the way (RFC 9111, 5.1), because its
    /// `Date` is from another time.
    var date: Timestamp? { header("Age") == nil ? header("Date").flatMap { Timestamp(httpDate: $0) } : nil }
}

extension Timestamp {
    fileprivate var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
