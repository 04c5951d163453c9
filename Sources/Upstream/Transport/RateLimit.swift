internal import EntitySchema
internal import JSONText

/// How long a response asks to wait, in the headers that servers use for that.
struct RateLimit {
    let now: Timestamp
    /// The server's time as it was measured, if that is another than `now`: one of them is wrong.
    var measured: Timestamp?

    /// Without any word about it.
    static let usualDelay = Duration.seconds(30)
    /// No server can stop the daemon for longer than this without saying it again.
    static let longest = Duration.seconds(3600)

    /// `RateLimit-Reset` is from drafts of the IETF's RateLimit fields, the others are in wide use.
    private static let resets = [
        "RateLimit-Reset", "X-RateLimit-Reset", "X-Rate-Limit-Reset", "X-RateLimit-Reset-After",
    ]
    private static let remaining = ["RateLimit-Remaining", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining"]

    /// Whether the response says that no requests are left, and until when: with 403, as GitHub does.
    static func isUsedUp(_ response: HTTPResponse) -> Bool {
        let isStopped = remaining.contains { name in response.header(name).map { Int64($0) == 0 } ?? false }
        return isStopped && (["Retry-After"] + resets).contains { response.header($0) != nil }
    }

    /// From the place that the schema names, else from `Retry-After` or a reset header; nil when there is none.
    func delay(_ response: HTTPResponse, _ body: JSONText?, _ until: AnswerRule.Until?) -> Duration? {
        let stated: String? =
            switch until {
            case .header(let name)?: response.header(name)
            case .member(let place)?: body.flatMap(place.value)?.plain
            case nil: nil
            }
        if let delay = stated.flatMap(delay) { return delay }
        return (["Retry-After"] + Self.resets).lazy.compactMap { response.header($0) }.compactMap(delay).first
    }

    /// How many requests are left, in the headers that the schema names; nil if they are not there.
    func stated(_ response: HTTPResponse, _ limits: RequestLimits) -> RequestBudget.Stated? {
        guard let remaining = limits.remainingHeader.flatMap({ response.header($0) }).flatMap({ Int($0) }),
            let reset = limits.resetHeader.flatMap({ response.header($0) }).flatMap(delay)
        else { return nil }
        return RequestBudget.Stated(remaining: max(0, remaining), reset: reset)
    }

    /// Never more than an hour and never negative; nil for a text that is none of these: seconds, also with a fraction; a
    /// time as seconds or milliseconds since 1970; a date of HTTP (RFC 9110, 5.6.7) or in ISO 8601.
    func delay(_ text: String) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) {
            guard let number = Double(text) else { return nil }
            guard number >= Self.leastTime else { return .milliseconds(Int64(min(number * 1000, 3_600_000))) }
            guard let time = try? JSONText(parsing: text).changeTime else { return Self.longest }
            return bounded(time)
        }
        return (Timestamp(httpDate: text) ?? Timestamp(iso8601: text)).map(bounded)
    }

    /// By two clocks that differ it is the shorter wait, but one that is over only if both say so.
    private func bounded(_ time: Timestamp) -> Duration {
        let waits = [now, measured].compactMap { $0.map(time.since) }.filter { $0 > .zero }
        return min(waits.min() ?? .zero, Self.longest)
    }

    /// Numbers from here on are times (as seconds since 1970 it is 2001), smaller ones are spans.
    private static let leastTime = 1e9
}
