internal import SQLiteStore

/// What the search index must have for a text to begin with another or contain it: FTS5 expressions that find every such
/// text, and some more.
struct SearchBound {
    /// Of the table of words; nil if none of the text's words is surely whole.
    let words: String?
    /// Of the table of parts of numbers; nil if the text is too short for a trigram.
    let fragment: String?

    /// Up to here, FTS5 and this program agree on what is a letter.
    private static let lastKnown: Unicode.Scalar = "\u{24F}"

    /// `isPrefix`: the texts begin with this one.
    init(_ text: String, isPrefix: Bool) {
        fragment = SearchQuery.fragment(text)
        words =
            text.unicodeScalars.allSatisfy({ $0 <= Self.lastKnown && $0.value > 0 })
            ? isPrefix ? Self.beginning(text) : Self.inner(text) : nil
    }

    /// The first words of a text, the last of them as a prefix.
    private static func beginning(_ text: String) -> String? {
        guard SearchQuery.letters(in: text) > 1 else { return nil }
        return "^ \(text.quoted(by: "\"")) *"
    }

    /// The words between spaces; the first and the last may be parts of longer ones.
    private static func inner(_ text: String) -> String? {
        let chunks = text.split(omittingEmptySubsequences: false, whereSeparator: \.isWhitespace)
        let whole = chunks.dropFirst().dropLast().filter { SearchQuery.letters(in: $0) > 0 }
        return whole.isEmpty ? nil : "(\(whole.map { String($0).quoted(by: "\"") }.joined(separator: " AND ")))"
    }
}
