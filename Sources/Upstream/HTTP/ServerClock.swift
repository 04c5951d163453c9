package import EntitySchema
internal import Synchronization

/// How far the server's clock is ahead of this machine's, from the `Date` of its answers.
///
/// What is kept is the server's time against a clock that only ever moves on, so that when this machine's clock is set,
/// the offset is right at once, without an answer in between.
package final class ServerClock: Sendable {
    private struct State {
        /// The server's time since 1970, less the monotonic time.
        var anchor: Duration?
        /// False while the anchor is only what the last run knew.
        var isMeasured = false
    }

    private let now: @Sendable () -> Timestamp
    private let monotonic: @Sendable () -> Duration
    private let state: Mutex<State>

    /// The weight of one sample: a `Date` has whole seconds, so single ones are half a second off.
    private static let weight = 0.2
    /// What differs more than this is no noise: the server's clock was set.
    private static let largestNoise = Duration.seconds(5)
    /// An exchange of more than this tells too little about when the `Date` was written to refine anything.
    private static let longestExchange = Duration.seconds(2)

    /// `monotonic` must also count while the machine sleeps. `initialOffset`, as an earlier run measured it, holds until
    /// the first answer.
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

    /// How far the server is ahead at this moment, negative when it is behind; nil before anything is known.
    package var offset: Duration? {
        state.withLock { $0.anchor }.map { $0 + monotonic() - now().sinceEpoch }
    }

    /// Takes the `Date` of one answer into account. Times are monotonic: just before the request and just after the answer.
    package func observe(date: Timestamp, sentAt: Duration, receivedAt: Duration) {
        let exchange = receivedAt - sentAt
        guard exchange >= .zero else { return }
        // The Date was cut to whole seconds, and written somewhere between the two.
        let sample = date.sinceEpoch + .milliseconds(500) - (sentAt + receivedAt) / 2
        state.withLock { state in
            guard let anchor = state.anchor, state.isMeasured else {
                state = State(anchor: sample, isMeasured: true)
                return
            }
            let difference = sample - anchor
            let distance = max(difference, .zero - difference) - exchange / 2
            if distance > Self.largestNoise {
                state.anchor = sample
            } else if exchange <= Self.longestExchange {
                state.anchor = anchor + difference * Self.weight
            }
        }
    }
}

extension ServerClock {
    /// Leaves out what a cache on the way had kept (RFC 9111, 5.1), since its `Date` is of another time.
    func observe(_ response: HTTPResponse, sentAt: Duration) {
        guard response.header("Age") == nil, let date = response.header("Date").flatMap({ Timestamp(httpDate: $0) })
        else { return }
        observe(date: date, sentAt: sentAt, receivedAt: instant)
    }
}

extension Timestamp {
    fileprivate var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
