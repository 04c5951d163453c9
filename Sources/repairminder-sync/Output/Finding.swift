import JSONText

/// The result of one doctor check.
struct Finding: Equatable, Sendable {
    enum Level: String, Sendable {
        case ok, warning, error
    }

    var check: String
    var level: Level
    var message: String
    /// What to do about it; nil when nothing needs to be done.
    var advice: String?

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, level: .ok, message: message, advice: nil)
    }

    static func warning(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, level: .warning, message: message, advice: advice)
    }

    static func error(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, level: .error, message: message, advice: advice)
    }

    private var shown: (message: String, advice: String?) {
        (Manual.located(message), advice.map { Manual.located($0) })
    }

    /// `warning  disk        31 MiB free in /var/lib` and, indented, what to do.
    var text: String {
        let (message, advice) = shown
        let line = "\(level.rawValue.padding(to: 7))  \(check.padding(to: 11))  \(TerminalText.line(message))\n"
        return line + (advice.map { String(repeating: " ", count: 22) + "→ \(TerminalText.line($0))\n" } ?? "")
    }

    var json: JSONText {
        let (message, advice) = shown
        return .object([
            "check": .string(check), "level": .string(level.rawValue), "message": .string(message),
            "advice": .string(advice),
        ])
    }
}
