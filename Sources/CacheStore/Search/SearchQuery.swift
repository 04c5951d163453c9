package import SQLiteStore

/// A search text, split so that no part of it can act as FTS5 syntax.
package struct SearchQuery: Sendable, Equatable {
    /// The words as written, except those without any letter or digit.
    let words: [String]
    /// The caller's text, which distinguishes one list from another.
    let text: String
    /// The indexed terms that the last word stands for, if they were looked up (`SearchCompletion`).
    var completions: [String]?
    /// Whether the last word also stands for all that begin with it. A single letter does not: FTS5 would read a large
    /// part of the index.
    let isLastPrefix: Bool
    /// The whole text as part of a number; nil if it is too short for a trigram.
    let fragment: String?
    /// The words that may also be parts of a number: those with a digit.
    let numbers: [Number]

    struct Number: Sendable, Equatable {
        /// Of the word.
        var index: Int
        var fragment: String
    }

    private static let longest = 200
    private static let mostWords = 20
    /// In characters: more than names and numbers have that people look for.
    private static let mostQuick = 64

    /// Whether finding it may take long: FTS5 looks for each part of a long word, or of a long number, at every place of a
    /// value, and can have tens of thousands of places to look at.
    var isLong: Bool { text.unicodeScalars.count > Self.mostQuick }

    /// Throws `.badQuery` for a text that cannot be searched for.
    package init(_ text: String) throws(CacheError) {
        guard text.unicodeScalars.count <= Self.longest else {
            throw Self.bad("the search text may have at most \(Self.longest) characters")
        }
        let words = text.split { $0.isWhitespace || $0 == "\0" }.map(String.init).filter { Self.letters(in: $0) > 0 }
        guard !words.isEmpty else { throw Self.bad("the search text needs at least two letters or digits") }
        guard words.count <= Self.mostWords else {
            throw Self.bad("the search text may have at most \(Self.mostWords) words")
        }
        guard words.count > 1 || Self.letters(in: words[0]) > 1 else {
            throw Self.bad("a single letter matches too much; give at least two")
        }
        self.words = words
        self.text = text
        isLastPrefix = words.last.map { Self.lettersAtEnd(of: $0) > 1 } ?? false
        fragment = Self.fragment(words.joined())
        numbers = words.enumerated().compactMap { index, word in
            guard word.unicodeScalars.contains(where: { $0.properties.numericType != nil }) else { return nil }
            return Self.fragment(word).map { Number(index: index, fragment: $0) }
        }
    }

    private static func bad(_ message: String) -> CacheError { .badQuery(field: "q", message: message) }

    // MARK: FTS5 expressions

    /// All words; the last one matches by prefix unless `exact`.
    func expression(exact: Bool = false) -> String {
        words.indices.map { term(at: $0, exact: exact) }.joined(separator: " AND ")
    }

    /// A quoted string is never syntax (https://sqlite.org/fts5.html#fts5_strings).
    func term(at index: Int, exact: Bool = false) -> String {
        let quoted = words[index].quoted(by: "\"")
        guard index == words.count - 1, !exact, isLastPrefix else { return quoted }
        guard let completions else { return quoted + "*" }
        // No term begins so: the word itself finds as little.
        guard !completions.isEmpty else { return quoted }
        return "(\(completions.map { $0.quoted(by: "\"") }.joined(separator: " OR ")))"
    }

    /// The last word as FTS5 indexes it, if it is a prefix of three or more letters; nil if only FTS5 can say.
    var prefix: String? {
        guard let last = words.last?.utf8, last.count > 2, last.allSatisfy(\.isASCIILetterOrDigit) else { return nil }
        return words.last?.lowercased()
    }

    /// Whether no indexed word begins with the last one, so that it can only be part of a number.
    var isLastUnknown: Bool { completions?.isEmpty ?? false }

    /// Whether the last word, as a prefix, stands for itself alone.
    var isLastWhole: Bool { completions.map { $0 == prefix.map { [$0] } } ?? !isLastPrefix }

    /// A text as part of a number; nil if it is too short for a trigram.
    static func fragment(_ text: String) -> String? {
        let bare = FragmentMark.bare(text)
        return bare.unicodeScalars.count < 3 ? nil : bare.quoted(by: "\"")
    }

    // MARK: Letters

    static func letters(in word: some StringProtocol) -> Int { word.unicodeScalars.filter(isToken).count }

    /// A combining accent does not end a word.
    private static func lettersAtEnd(of word: String) -> Int {
        word.unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }.reversed().prefix(
            while: isToken
        )
        .count
    }

    /// Whether unicode61 treats the character as part of a word.
    private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}

extension UInt8 {
    /// Whether unicode61 treats the byte of a text as part of a word, if it is ASCII.
    var isASCIILetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
