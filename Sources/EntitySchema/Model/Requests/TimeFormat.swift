package import JSONText

/// How an upstream spells a time: in requests, and in the fields that it takes.
package enum TimeFormat: Sendable, Equatable {
    /// `2026-01-31T09:00:00.000Z`.
    case iso
    /// `2026-01-31 09:00:00.000Z`, for upstreams that compare such texts.
    case isoSpace
    /// `2026-01-31`: a day that has begun in every time zone, since none says which one is meant.
    case date
    /// Whole seconds since 1970-01-01T00:00:00Z.
    case epoch
    /// Milliseconds since then.
    case epochMilliseconds
    /// `Sat, 31 Jan 2026 09:00:00 GMT` (RFC 9110, 5.6.7).
    case http
    /// By its parts: `yyyy-MM-dd HH:mm`.
    case pattern(TimePattern)

    private static let named: [(word: String, format: TimeFormat)] = [
        ("iso", .iso), ("iso_space", .isoSpace), ("date", .date), ("epoch", .epoch), ("epoch_ms", .epochMilliseconds),
        ("http", .http),
    ]

    package static let words = named.map(\.word)

    /// Nil for what is neither a name nor a pattern.
    package init?(_ word: String) {
        if let known = Self.named.first(where: { $0.word == word }) {
            self = known.format
        } else {
            guard let pattern = TimePattern(word) else { return nil }
            self = word == "yyyy-MM-dd" ? .date : .pattern(pattern)
        }
    }

    /// As a schema has it.
    package var word: String {
        if case .pattern(let pattern) = self { return pattern.source }
        return Self.named.first { $0.format == self }?.word ?? ""
    }

    package var isNumber: Bool { self == .epoch || self == .epochMilliseconds }

    /// Whether its texts are read as ISO 8601.
    package var isISO: Bool {
        switch self {
        case .iso, .isoSpace, .date: true
        case .epoch, .epochMilliseconds, .http: false
        case .pattern(let pattern): pattern.isISO
        }
    }

    /// What `text` may cut off a time. A day is moved instead.
    package var precision: Duration {
        switch self {
        case .iso, .isoSpace, .epochMilliseconds, .date: .milliseconds(1)
        case .epoch, .http: .seconds(1)
        case .pattern(let pattern): pattern.isDay && pattern.offset == nil ? .milliseconds(1) : pattern.precision
        }
    }

    /// How much later than in UTC a day begins where it begins last.
    private static let furthestWest = Duration.seconds(12 * 3600)

    /// Never later than `time`, so that nothing is skipped.
    package func text(_ time: Timestamp) -> String {
        switch self {
        case .iso: time.description
        case .isoSpace: time.description.replacing("T", with: " ")
        case .date: String((time - Self.furthestWest).description.prefix(10))
        case .epoch: "\(time.milliseconds.flooredQuotient(1000))"
        case .epochMilliseconds: "\(time.milliseconds)"
        case .http: time.httpDate
        case .pattern(let pattern):
            pattern.text(pattern.isDay && pattern.offset == nil ? time - Self.furthestWest : time)
        }
    }

    /// What `text` makes of a time; nil for any other text.
    package func time(_ text: String) -> Timestamp? {
        switch self {
        case .iso, .isoSpace, .date: Timestamp(iso8601: text)
        case .epoch: Int64(text).map { Timestamp(milliseconds: $0 &* 1000) }
        case .epochMilliseconds: Int64(text).map(Timestamp.init(milliseconds:))
        case .http: Timestamp(httpDate: text)
        case .pattern(let pattern): pattern.time(text)
        }
    }
}

extension TimeFormat {
    /// A time in ISO 8601 in this format; nil for any other value.
    func json(ofTime value: JSONText) -> JSONText? {
        value.string.flatMap(Timestamp.init(iso8601:)).map { .string(text($0)) }
    }
}

extension JSONText {
    /// Numbers from here on count milliseconds, below it seconds: as seconds it is the year 5138.
    private static let leastMilliseconds: Int64 = 100_000_000_000

    /// When a record changed: a text in ISO 8601, in the form of HTTP or in .NET's, or a number of seconds or milliseconds since
    /// 1970, also in quotes. Nil for anything else.
    package var changeTime: Timestamp? { changeTime(clock: .zero) }

    /// Like `changeTime`; a text without zone is by a clock that is this far ahead of UTC.
    package func changeTime(clock: Duration) -> Timestamp? {
        if let text = string {
            return Timestamp(iso8601: text, clock: clock) ?? Timestamp(httpDate: text) ?? Self.time(ofDotNET: text)
                ?? Self.time(ofQuoted: text)
        }
        return kind == .number ? Self.time(ofNumber: text) : nil
    }

    private static func time(ofNumber text: String) -> Timestamp? {
        guard let value = Double(text), value.isFinite, value > 0, value < 1e15 else { return nil }
        if value >= Double(leastMilliseconds) { return Timestamp(milliseconds: Int64(value)) }
        return Timestamp(milliseconds: Int64((value * 1000).rounded(.down)))
    }

    /// A number in quotes, with as many digits as such a time has had since 2001; others are days and times in digits alone.
    private static func time(ofQuoted text: String) -> Timestamp? {
        guard [10, 13].contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return time(ofNumber: text)
    }

    /// The time in `/Date(1573755038314)/` or `/Date(1573755038314+0100)/`: milliseconds in UTC, whatever follows them.
    private static func time(ofDotNET text: String) -> Timestamp? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/"),
            let match = text.dropFirst(6).dropLast(2).wholeMatch(of: #/(-?[0-9]{1,15})(?:[+-][0-9]{4})?/#)
        else { return nil }
        return Int64(match.1).map(Timestamp.init(milliseconds:))
    }
}
