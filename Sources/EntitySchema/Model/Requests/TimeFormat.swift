package import JSONText

/// How an upstream wants a time in a request.
package enum TimeFormat: String, Sendable, Equatable, CaseIterable {
    /// `2026-01-31T09:00:00.000Z`.
    case iso
    /// `2026-01-31 09:00:00.000Z`, for upstreams that compare such texts.
    case isoSpace = "iso_space"
    /// `2026-01-31`: a day that has begun in every time zone, since none says which one is meant.
    case date
    /// Whole seconds since 1970-01-01T00:00:00Z.
    case epoch
    /// Milliseconds since then.
    case epochMilliseconds = "epoch_ms"

    package var isNumber: Bool { self == .epoch || self == .epochMilliseconds }

    /// How much later than in UTC a day begins where it begins last.
    private static let furthestWest = Duration.seconds(12 * 3600)

    /// Never later than `time`, so that nothing is skipped.
    package func text(_ time: Timestamp) -> String {
        switch self {
        case .iso: time.description
        case .isoSpace: time.description.replacing("T", with: " ")
        case .date: String((time - Self.furthestWest).description.prefix(10))
        case .epoch: "\((time.milliseconds - (time.milliseconds % 1000 + 1000) % 1000) / 1000)"
        case .epochMilliseconds: "\(time.milliseconds)"
        }
    }

    /// What `text` makes of a time; nil for any other text.
    package func time(_ text: String) -> Timestamp? {
        switch self {
        case .iso, .isoSpace, .date: Timestamp(iso8601: text)
        case .epoch: Int64(text).map { Timestamp(milliseconds: $0 &* 1000) }
        case .epochMilliseconds: Int64(text).map(Timestamp.init(milliseconds:))
        }
    }
}

extension JSONText {
    /// Numbers from here on count milliseconds, below it seconds: as seconds it is the year 5138.
    private static let leastMilliseconds: Int64 = 100_000_000_000

    /// When a record changed: a text in ISO 8601, or a number of seconds or milliseconds since 1970. Nil for anything
    /// else.
    package var changeTime: Timestamp? {
        if let text = string { return Timestamp(iso8601: text) }
        guard kind == .number, let value = Double(text), value.isFinite, value > 0, value < 1e15 else { return nil }
        if value >= Double(Self.leastMilliseconds) { return Timestamp(milliseconds: Int64(value)) }
        return Timestamp(milliseconds: Int64((value * 1000).rounded(.down)))
    }
}
