import JSONText

/// The screen of `watch`: state, counts and the latest changes. In a terminal each frame overwrites the previous one.
struct WatchScreen {
    let isTerminal: Bool
    /// Shows times to people; nil leaves them as they are.
    var times: (@Sendable () -> TimeText)?
    private var recent: [JSONText] = []
    /// The number of lines in the previous frame.
    private var drawn = 0
    private var lastLine = ""

    private static let mostRecent = 10
    private static let standardSize = (columns: 80, rows: 24)

    init(isTerminal: Bool, times: (@Sendable () -> TimeText)? = nil) {
        self.isTerminal = isTerminal
        self.times = times
    }

    /// The text to print: a new frame in a terminal, otherwise lines for new changes.
    mutating func text(status: JSONText, changes: [JSONText], size: (columns: Int, rows: Int)?) -> String {
        guard isTerminal else {
            return changes.map { TerminalText.line(Self.line($0)) + "\n" }.joined() + lineIfNew(Self.summary(status))
        }
        recent = (recent + changes).suffix(Self.mostRecent)
        let size = size ?? Self.standardSize
        let times = self.times?()
        let facts = Self.bar(status) + StatusText.summary(status, times).split(separator: "\n").map(String.init)
        let shown = recent.suffix(max(size.rows - facts.count - 2, 0))
        let lines = facts + [""] + shown.map { Self.line($0, times) }
        return frame(lines, columns: size.columns)
    }

    mutating func textOfUnreachable(_ size: (columns: Int, rows: Int)?) -> String {
        let message = "the daemon is unreachable"
        guard isTerminal else { return lineIfNew(message) }
        return frame([message], columns: (size ?? Self.standardSize).columns)
    }

    private mutating func lineIfNew(_ line: String) -> String {
        defer { lastLine = line }
        return line == lastLine ? "" : TerminalText.line(line) + "\n"
    }

    /// Moves to the first line of the previous frame, redraws, and clears the rest (ECMA-48: CPL, ED, EL).
    private mutating func frame(_ lines: [String], columns: Int) -> String {
        let back = drawn > 0 ? "\u{1B}[\(drawn)F" : ""
        drawn = lines.count
        // A wrapped line would count as two when moving back.
        let shown = lines.map { TextWidth.cut(TerminalText.line($0), to: max(columns - 1, 1)) + "\u{1B}[K\n" }
        return back + shown.joined() + "\u{1B}[J"
    }

    // MARK: Lines

    /// A progress bar; empty when nothing is syncing.
    private static func bar(_ status: JSONText) -> [String] {
        let width = 40
        guard status["state"]?.string == "syncing", let share = ProgressText.share(of: status) else {
            return ["[\("".padding(to: width))]"]
        }
        return [ProgressText.bar(share, width: width)]
    }

    private static func summary(_ status: JSONText) -> String {
        let numbers = ["pending", "failed", "conflicts"].map { "\($0) \(status[$0]?.plain ?? "?")" }
        return ([StatusText.state(status)] + numbers).joined(separator: ", ")
    }

    private static func line(_ change: JSONText, _ times: TimeText? = nil) -> String {
        let at = change.shown("at")
        let fields = change["fields"]?.elements.map(\.plain).joined(separator: ",") ?? ""
        let names = ["kind", "entity", "id"].map(change.shown)
        return ([times?.text(of: at, .clock) ?? at] + names).joined(separator: " ")
            + (fields.isEmpty ? "" : " \(fields)")
    }
}
