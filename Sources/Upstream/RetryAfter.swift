internal import EntitySchema

/// The `Retry-After` field (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Never more than an hour and never negative; nil for text that is neither.
    static func delay(_ text: String, now: Timestamp) -> Duration? {
        let longest = Duration.seconds(3600)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds(min($0, 3600)), longest) } ?? longest
        }
        guard let date = date(text) else { return nil }
        return min(max(date.since(now), .zero), longest)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that a sender may use.
    private static func date(_ text: String) -> Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
