import EntitySchema

/// How results are written: for people at a terminal, or for programs.
struct Presentation: Sendable {
    /// The terminal's width in columns; nil for programs, which get tabs between columns and times in ISO 8601.
    var width: Int?
    var hasColours = false
    /// Nil leaves times as they are.
    var times: TimeText?
    /// Whether lines may be longer than the terminal is wide.
    var isWide = false

    static let programs = Presentation()

    /// `NO_COLOR` (no-color.org), `TERM=dumb` and anything but a terminal turn colours off. A terminal that does not report
    /// its width, such as a serial line or that of `script`, has as many columns as `COLUMNS` says, or 80.
    static func standard(
        _ output: StandardStream = .output, environment: [String: String], now: Timestamp, isWide: Bool = false
    ) -> Presentation {
        guard output.isTerminal else { return .programs }
        let stated = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        let hasColours = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        return Presentation(
            width: output.width ?? stated ?? 80, hasColours: hasColours, times: TimeText(now: now), isWide: isWide)
    }
}
