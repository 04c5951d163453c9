/// A text from elsewhere as one word of a command that a message proposes.
enum ShellWord {
    private static let plain = Set("._@+,:%/=-".utf8)

    /// The text in single quotes, unless a shell takes every character of it as it is.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || plain.contains(byte)
        }
        if isPlain, !text.isEmpty { return text }
        return "'\(betweenQuotes(text))'"
    }

    /// For a place between single quotes.
    static func betweenQuotes(_ text: String) -> String {
        // By scalars: as a `Character`, a quote with a combining mark after it is no quote, but a shell ends the word there.
        text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined()
    }
}
