extension SchemaNode {
    /// `iso`, `epoch`, `yyyy-MM-dd HH:mm`.
    func timeFormat() throws(SchemaError) -> TimeFormat {
        let word = try string()
        if let format = TimeFormat(word) { return format }
        throw error("\(word) is not a time format\(TimeFormat.hint(for: word)); expected one of \(TimeFormat.known)")
    }
}

extension TimeFormat {
    /// For messages.
    static let known = words.joined(separator: ", ") + ", or the parts of a time such as yyyy-MM-dd HH:mm:ss"

    /// For the end of a message: the name or the pattern that this was probably meant to be.
    static func hint(for word: String) -> String {
        let candidates = habits.lazy.map { habit in
            habit.reduce(word) { $0.replacing($1.key, with: $1.value) }
        }
        if let pattern = candidates.first(where: { TimePattern($0) != nil }) { return "; did you mean \(pattern)?" }
        return Suggestion.hint(for: word, among: words)
    }

    /// How other languages spell the same parts: in other letters, with quotes around letters, and as strftime.
    private static let habits: [KeyValuePairs<String, String>] = [
        ["Y": "y", "D": "d", "h": "H", "'": "", "XXX": "+00:00", "XX": "+0000"],
        ["%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss", "%f": "SSSSSS", "%z": "+0000"],
    ]
}
