/// Text for standard output, in parts. A terminal shows the meaning of a part as a colour.
struct StyledText: Equatable, Sendable, ExpressibleByStringInterpolation {
    enum Meaning: String, Sendable {
        case good, waiting, bad, heading

        /// The parameters of SGR (ECMA-48).
        fileprivate var code: String {
            switch self {
            case .good: "32"
            case .waiting: "33"
            case .bad: "31"
            case .heading: "1"
            }
        }
    }

    struct Part: Equatable, Sendable {
        var text: String
        var meaning: Meaning?
    }

    private(set) var parts: [Part]

    init(stringLiteral text: String) { self.init(text) }

    init(_ text: String, _ meaning: Meaning? = nil) {
        parts = text.isEmpty ? [] : [Part(text: text, meaning: meaning)]
    }

    static func + (one: StyledText, other: StyledText) -> StyledText {
        var both = one
        both += other
        return both
    }

    static func += (text: inout StyledText, other: StyledText) { text.parts += other.parts }

    var plain: String { parts.map(\.text).joined() }

    /// For a terminal with colours: what came from elsewhere is escaped, so that no record can add a colour of its own.
    var painted: String {
        parts.map { part in
            let text = TerminalText.safe(part.text)
            return part.meaning.map { "\u{1B}[\($0.code)m\(text)\u{1B}[0m" } ?? text
        }.joined()
    }
}

extension StyledText.Meaning {
    /// What a cell of a table means: the state of a record, a change, an entity or a connection.
    init?(of cell: String, in column: String) {
        switch column {
        case "error": self = .bad
        case "state", "sync", "winner", "level":
            guard let known = Self.states[String(cell.prefix { $0.isLetter })] else { return nil }
            self = known
        default: return nil
        }
    }

    private static let states: [String: Self] = [
        "synced": .good, "completed": .good, "idle": .good, "connected": .good, "ok": .good, "pending": .waiting,
        "queued": .waiting, "uploading": .waiting, "waiting": .waiting, "syncing": .waiting, "paused": .waiting,
        "waits": .waiting, "due": .waiting, "warning": .waiting, "blocked": .bad, "failed": .bad, "error": .bad,
        "conflict": .bad, "disconnected": .bad, "offline": .bad,
    ]
}
