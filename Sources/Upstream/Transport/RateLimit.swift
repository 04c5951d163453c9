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
        let stated: Duration? =
            switch until {
            case .header(let name)?: delay(response, in: name)
            case .member(let place)?: body.flatMap { delay($0, at: place) }
            case nil: nil
            }
        if let stated { return stated }
        return (["Retry-After"] + Self.resets).lazy.compactMap { delay(response, in: $0) }.first
    }

    /// How many requests are left, in the headers that the schema names; nil if they are not there.
    func stated(_ response: HTTPResponse, _ limits: RequestLimits) -> RequestBudget.Stated? {
        guard let remaining = limits.remainingHeader.flatMap({ response.header($0) }).flatMap({ Int($0) }),
            let reset = limits.resetHeader.flatMap({ delay(response, in: $0) })
        else { return nil }
        return RequestBudget.Stated(remaining: max(0, remaining), reset: reset)
    }

    private func delay(_ response: HTTPResponse, in header: String) -> Duration? {
        response.header(header).flatMap { delay($0, inMilliseconds: Self.isInMilliseconds(header)) }
    }

    private func delay(_ body: JSONText, at place: Place) -> Duration? {
        place.paths.lazy.compactMap { path in
            Place(paths: [path]).value(in: body).flatMap {
                delay($0.plain, inMilliseconds: Self.isInMilliseconds(path))
            }
        }.first
    }

    /// By its name: `X-Rate-Limit-Time-Reset-Ms`, `retry_after_ms`, `retryAfterMs`.
    private static func isInMilliseconds(_ name: String) -> Bool {
        ["-ms", "_ms"].contains { name.lowercased().hasSuffix($0) } || name.hasSuffix("Ms")
    }

    /// From zero to an hour. The text may be seconds, also with a fraction, or milliseconds; a time as seconds or milliseconds
    /// since 1970; a date of HTTP (RFC 9110, 5.6.7) or in ISO 8601. Nil for any other.
    func delay(_ text: String, inMilliseconds: Bool = false) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) {
            guard let number = Double(text) else { return nil }
            guard number >= Self.leastTime else {
                return .milliseconds(Int64(min(number * (inMilliseconds ? 1 : 1000), 3_600_000)))
            }
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
