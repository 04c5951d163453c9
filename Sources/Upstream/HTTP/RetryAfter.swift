internal import EntitySchema

/// The `Retry-After` field (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Never more than an hour and never negative; nil for text that is neither.
    static func delay(_ text: String, now: Timestamp) -> Duration? {
        let longest = Duration.seconds(3600)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds(min($0, 3600)), longest) } ?? longest
        }
        guard let date = Timestamp(httpDate: text) else { return nil }
        return min(max(date.since(now), .zero), longest)
    }
}
