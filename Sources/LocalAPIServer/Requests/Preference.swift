internal import SocketServer

/// What a caller would like, if the server can do it: the header `Prefer` (RFC 7240). Only `wait` is known; the RFC has
/// all others ignored.
struct Preference {
    /// Seconds that the caller is ready to wait; nil if it does not say, or says it in no whole number.
    let wait: Int?

    init(_ request: Request) {
        // The first of several counts (RFC 7240, 2).
        let preferences = request.headers[all: "Prefer"].flatMap { $0.split(separator: ",") }
        let words = preferences.lazy.compactMap { Self.wait(in: $0) }
        wait = words.first.flatMap(Int.init)
    }

    /// The value of `wait=10`, with or without quotes; nil for another preference.
    private static func wait(in preference: Substring) -> String? {
        let pair = preference.split(separator: ";", omittingEmptySubsequences: false)[0].split(
            separator: "=", maxSplits: 1)
        guard pair.count == 2, trimmed(pair[0]).lowercased() == "wait" else { return nil }
        let value = trimmed(pair[1])
        let isQuoted = value.count >= 2 && value.first == "\"" && value.last == "\""
        return isQuoted ? String(value.dropFirst().dropLast()) : value
    }

    /// Without the white space around it; there is none inside.
    private static func trimmed(_ text: Substring) -> String { text.filter { $0 != " " && $0 != "\t" } }
}
