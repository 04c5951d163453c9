/// What the parser says of a command line, for people.
enum UsageText {
    private static let width = 80

    /// The text with the line of the usage wrapped between its parts: the parser leaves it as long as it is.
    static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.count > width && line.lowercased().hasPrefix("usage: ") ? wrapped(line) : String(line)
        }.joined(separator: "\n")
    }

    private static func wrapped(_ line: Substring) -> String {
        var lines = [""]
        for part in parts(of: line) {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = part
            } else if last.count + 1 + part.count <= width {
                lines[lines.count - 1] += " \(part)"
            } else {
                lines.append("    \(part)")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The words, with those between brackets as one.
    private static func parts(of line: Substring) -> [String] {
        var parts: [String] = []
        var depth = 0
        for word in line.split(separator: " ") {
            if depth > 0 { parts[parts.count - 1] += " \(word)" } else { parts.append(String(word)) }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return parts
    }

    /// How to give the file that the parser has no place for; nil if it complains of something else.
    static func hint(on message: String) -> String? {
        guard let file = message.wholeMatch(of: #/Unexpected argument '(.+\.ya?ml)'/#)?.1 else { return nil }
        return "; write --config \(file), or --schema \(file) if it is a schema"
    }
}
