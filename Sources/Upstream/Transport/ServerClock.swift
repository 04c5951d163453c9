package import EntitySchema
internal import Synchronization

/// Measures how far the server's clock is ahead of this machine's, from the `Date` of its responses.
///
/// It stores the server's time relative to a monotonic clock, so the offset is right at once when this machine's clock
/// is set, without waiting for another response.
package final class ServerClock: Sendable {
    private struct State {
        /// The server's time since 1970 minus the monotonic time.
        var anchor: Duration?
        /// False while the anchor comes from the previous run.
        var isMeasured = false
    }

    private let now: @Sendable () -> Timestamp
    private let monotonic: @Sendable () -> Duration
    private let state: Mutex<State>

    /// The weight of one sample. A `Date` has whole seconds, so a single one is up to half a second off.
    private static let weight = 0.2
    /// A larger difference is not noise: the server's clock was set.
    private static let largestNoise = Duration.seconds(5)
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
    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), the only form that a sender may use. Nil for anything else.
    package init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    fileprivate var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
