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

    /// For standard output. `NO_COLOR` (no-color.org), `TERM=dumb` and anything but a terminal turn colours off.
    static func standard(environment: [String: String], now: Timestamp, isWide: Bool = false) -> Presentation {
        guard let width = StandardStream.output.width else { return .programs }
        let hasColours = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        return Presentation(width: width, hasColours: hasColours, times: TimeText(now: now), isWide: isWide)
    }
}
