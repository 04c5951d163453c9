internal import SocketServer

/// What a caller would like, if the server can do it: the header `Prefer` (RFC 7240). The RFC has unknown preferences
/// ignored.
struct Preference {
    /// Seconds that the caller is ready to wait; nil if it does not say, or says it in no whole number.
    let wait: Int?
    /// Whether the caller needs no record in the answer (`return=minimal`).
    let isMinimal: Bool

    init(_ request: borrowing Request) {
        let preferences = request.headers[all: "Prefer"].flatMap { Self.split($0[...], at: ",") }
        // The first of several counts (RFC 7240, 2).
        wait = preferences.lazy.compactMap { Self.value(of: "wait", in: $0) }.first.flatMap(Int.init)
        isMinimal = preferences.lazy.compactMap { Self.value(of: "return", in: $0) }.first == "minimal"
    }

    /// The value of a preference such as `wait=10`, with or without quotes; nil for one of another name.
    private static func value(of name: String, in preference: Substring) -> String? {
        guard let pair = Self.split(preference, at: ";").first?.split(separator: "=", maxSplits: 1), pair.count == 2,
            trimmed(pair[0]).lowercased() == name
        else { return nil }
        let value = trimmed(pair[1])
        let isQuoted = value.count >= 2 && value.first == "\"" && value.last == "\""
        return isQuoted ? String(value.dropFirst().dropLast()) : value
    }

    /// The parts between these separators; one in quotes is text.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split { character in
            guard !isEscaped else {
                isEscaped = false
                return false
            }
            isEscaped = isQuoted && character == "\\"
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }

    /// Without the white space around it; there is none inside.
    private static func trimmed(_ text: Substring) -> String { text.filter { $0 != " " && $0 != "\t" } }
}
