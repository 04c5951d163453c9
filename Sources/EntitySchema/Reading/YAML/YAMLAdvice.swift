/// What to do about a syntax error of YAML, whose parser only says what it did not find.
enum YAMLAdvice {
    private static let all: [(words: String, advice: String)] = [
        (
            "expected key",
            "check the indentation of this line and the one above: members of one mapping begin in one column"
        ),
        (
            "expected '-'",
            "check the indentation of this line and the one above: elements of one list begin in one column"
        ),
        (
            "expected ':'",
            "write `key: value`, with a space after the colon; quotes belong around a text with a line break"
        ),
        (
            "mapping values are not allowed",
            "check the indentation, and put quotes around a text with a colon and a space"
        ),
        ("block sequence entries are not allowed", "check the indentation of this line and the one above"),
        (
            "cannot start any token",
            "indent with spaces, not tabs, and put quotes around a text that begins with @, ` or %"
        ),
        ("expected ',' or", "close the bracket, and put quotes around a text with a comma, a bracket or a brace"),
        ("unexpected end of stream", "close the quote"),
    ]

    /// The parser's words, and what to do where that is known.
    static func problem(_ words: String) -> String {
        let advice = all.first { words.contains($0.words) }?.advice
        return advice.map { "\(words); \($0)" } ?? words
    }
}
