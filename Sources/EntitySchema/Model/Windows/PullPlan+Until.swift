internal import JSONText

/// The upper bound of a part of a window: `{$until}`.
extension PullPlan {
    /// Whether the list can be asked for what is below a bound of its window.
    package var readsUntil: Bool { call?.names("until") ?? false }

    /// What `{$until}` stands for, to read all that is not above `bound`, a time in ISO 8601 or a number: a little more, since
    /// the upstream may leave out the bound itself, and the form of a time may cut it off. Nil for other numbers.
    package func until(_ bound: String) -> String? {
        if let number = Int(bound) {
            let (next, overflow) = number.addingReportingOverflow(1)
            return overflow ? nil : String(next)
        }
        guard JSONText.string(bound).amount == nil, let time = Timestamp(iso8601: bound) else { return nil }
        let formats = call?.placeholders.filter { $0.name == .value("until") }.compactMap(\.format) ?? []
        // A day is a bound that includes all of itself.
        let day = bound.utf8.count == "2026-01-31".utf8.count ? Duration.seconds(86_400) : .zero
        return (time + day + formats.reduce(.seconds(1)) { max($0, $1.rounding) }).description
    }
}

extension TimeFormat {
    /// How much later a time must be for its text to be later than that of another one.
    fileprivate var rounding: Duration {
        switch self {
        case .date: Self.dayRounding
        case .pattern(let pattern) where pattern.isDay && pattern.offset == nil: Self.dayRounding
        case .iso, .isoSpace, .epoch, .epochMilliseconds, .http, .pattern: precision
        }
    }

    /// A day, and how much earlier `text` takes a day.
    private static let dayRounding = Duration.seconds(36 * 3600)
}
