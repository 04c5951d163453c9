import EntitySchema
import Foundation

/// Parses values by type; an error says what the value is, where it was set and what was expected.
struct ConfigurationValues {
    let layers: ConfigurationLayers

    /// `canBeOff`: whether the caller takes `off` as well.
    func integer(
        _ key: ConfigurationKey, in range: ClosedRange<Int>, else fallback: Int, canBeOff: Bool = false
    ) throws(ConfigurationError) -> Int {
        try value(
            key, "a whole number from \(range.lowerBound) to \(range.upperBound)\(canBeOff ? ", or off" : "")",
            { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }) ?? fallback
    }

    /// The bounds and the default are written as in the file. `canBeOff`: whether the caller takes `off` as well.
    func duration(
        _ key: ConfigurationKey, from: String, to: String, else fallback: String, canBeOff: Bool = false
    ) throws(ConfigurationError) -> Duration {
        let lowest = Duration(text: from) ?? .zero
        let highest = Duration(text: to) ?? .zero
        return try value(
            key, "a duration such as 500ms, 30s, 15m or 24h, from \(from) to \(to)\(canBeOff ? ", or off" : "")",
            { text in Duration(text: text).flatMap { (lowest...highest).contains($0) ? $0 : nil } })
            ?? Duration(text: fallback) ?? lowest
    }

    /// A share from 0 to 1; the file and the default use percent.
    func percentage(_ key: ConfigurationKey, else fallback: Double) throws(ConfigurationError) -> Double {
        try value(
            key, "a percentage such as 20%, from 0% to 100%",
            { text in
                guard text.hasSuffix("%"), text.dropLast().allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
                    let percent = Double(text.dropLast()), (0...100).contains(percent)
                else { return nil }
                return percent / 100
            }) ?? fallback / 100
    }

    /// In bytes; the default is written as in the file.
    func size(_ key: ConfigurationKey, else fallback: String) throws(ConfigurationError) -> Int {
        try value(key, "a size such as 500MiB or 2GiB", { ByteCount(text: $0)?.bytes })
            ?? ByteCount(text: fallback)?.bytes ?? 0
    }

    /// False when not set.
    func boolean(_ key: ConfigurationKey) throws(ConfigurationError) -> Bool {
        try value(key, "true or false", { Bool($0) }) ?? false
    }

    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: ConfigurationKey, else fallback: Choice
    ) throws(ConfigurationError) -> Choice {
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(key, "one of \(names)", { Choice(rawValue: $0) }) ?? fallback
    }

    /// Text without spaces or slashes; nil when not set.
    func name(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        try value(
            key, "a name of letters, digits, -, _ and .",
            { text in
                let isName = text.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
                return isName && !text.isEmpty && !text.hasPrefix("-") && !text.hasPrefix(".") ? text : nil
            })
    }

    /// In lower case; nil when not set.
    func sha256(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        try value(
            key, "a SHA-256 of 64 hexadecimal digits, as sha256sum prints it",
            { text in text.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit } ? text.lowercased() : nil })
    }

    /// Nil when not set.
    func timeZone(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        try value(key, "a time zone's name such as Europe/London", { TimeZone(identifier: $0) == nil ? nil : $0 })
    }

    /// Nil for `off`.
    func address(_ key: ConfigurationKey, else fallback: String) throws(ConfigurationError) -> ListenAddress? {
        guard layers[key]?.text != "off" else { return nil }
        return try value(
            key, "an IP address and a port from 0 to 65535, such as 127.0.0.1:7679 or [::1]:7679, or off",
            { ListenAddress($0) }) ?? ListenAddress(fallback)
    }

    /// A base URL to which paths are appended; nil when not set.
    func url(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        try value(key, "a URL such as https://api.example.com, without user, query or fragment", Self.baseURL)
    }

    /// Without a trailing slash; nil for any other text.
    static func baseURL(_ text: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }),
            case let rest = text.dropFirst(scheme.count), let first = rest.first, first != "/",
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains(where: { "?#@\\".contains($0) })
        else { return nil }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// A URL on this machine, so the data does not leave it; nil when not set.
    func loopbackURL(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        try value(
            key, "a URL on this machine, such as http://127.0.0.1:8123/reminders",
            { Self.isOfThisMachine($0) ? $0 : nil })
    }

    /// Whether a URL leads to this machine.
    static func isOfThisMachine(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains(where: { "#@\\".contains($0) })
        else { return false }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        let address = ListenAddress(String(authority)) ?? ListenAddress("\(authority):80")
        return address?.isLoopback == true
    }

    /// Nil when the key is not set.
    private func value<Value>(
        _ key: ConfigurationKey, _ expected: String, _ parse: (String) -> Value?
    ) throws(ConfigurationError) -> Value? {
        guard let set = layers[key] else { return nil }
        guard let value = parse(set.text) else {
            throw ConfigurationError(place: set.place, problem: "\"\(set.text)\" is not valid; expected \(expected)")
        }
        return value
    }
}
