/// Marks the words that a search found, in a text as it is written.
///
/// It does for ASCII what `snippet` of FTS5 does, which looks up the words for each record again; other letters are
/// left to FTS5, which folds them.
struct WordMark {
    /// The words of the query; one written with punctuation has several parts, which must follow one another.
    private let phrases: [[[UInt8]]]
    private let lastIsPrefix: Bool

    /// The most words of a text that are shown.
    private static let mostWords = 12

    /// Nil if only FTS5 can read the query.
    init?(_ query: SearchQuery) {
        var phrases: [[[UInt8]]] = []
        for word in query.words {
            guard let text = Self.lowercased(word) else { return nil }
            phrases.append(Self.words(in: text).map { Array(text[$0]) })
        }
        self.phrases = phrases
        lastIsPrefix = query.isLastPrefix
    }

    /// The first text that has the most words of the query, with these marked; a long one is cut. Nil if a text is not
    /// ASCII or none has any of the words.
    func marked(in texts: [String]) -> String? {
        var best: (text: String, words: [Range<Int>], matches: [Match])?
        var most = 0
        for text in texts {
            guard let bytes = Self.lowercased(text) else { return nil }
            let words = Self.words(in: bytes)
            let matches = matches(of: words, in: bytes)
            if matches.isEmpty { continue }
            let count = Set(matches.map(\.phrase)).count
            if count > most { (most, best) = (count, (text, words, matches)) }
        }
        return best.map { Self.marked(Array($0.text.utf8), $0.words, $0.matches.map(\.words)) }
    }

    private struct Match {
        var phrase: Int
        /// Indexes of the text's words.
        var words: Range<Int>
    }

    private func matches(of words: [Range<Int>], in text: [UInt8]) -> [Match] {
        var matches: [Match] = []
        for start in words.indices {
            for (index, phrase) in phrases.enumerated() where start + phrase.count <= words.count {
                let isFound = phrase.indices.allSatisfy { part in
                    let word = text[words[start + part]]
                    let isPrefix = lastIsPrefix && index == phrases.count - 1 && part == phrase.count - 1
                    return word.starts(with: phrase[part]) && (isPrefix || word.count == phrase[part].count)
                }
                if isFound { matches.append(Match(phrase: index, words: start..<(start + phrase.count))) }
            }
        }
        return matches
    }

    // MARK: Texts

    /// Nil for text that is not ASCII.
    private static func lowercased(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            guard byte < 0x80 else { return nil }
            bytes.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
        return bytes
    }

    private static func words(in text: [UInt8]) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start: Int?
        for (index, byte) in text.enumerated() {
            if byte.isASCIILetterOrDigit {
                if start == nil { start = index }
            } else if let begun = start {
                words.append(begun..<index)
                start = nil
            }
        }
        if let start { words.append(start..<text.count) }
        return words
    }

    /// Shows the beginning of the text or, if that lacks them, the part around the first of the matches, which are in
    /// order.
    private static func marked(_ text: [UInt8], _ words: [Range<Int>], _ matches: [Range<Int>]) -> String {
        let shown = shown(of: words.count, around: matches)
        var marked: [UInt8] = []
        var end = shown.lowerBound == 0 ? 0 : words[shown.lowerBound].lowerBound
        if shown.lowerBound > 0 { marked += "…".utf8 }
        for match in joined(matches) where shown.contains(match.lowerBound) {
            let bytes =
                words[match.lowerBound].lowerBound..<words[min(match.upperBound, shown.upperBound) - 1].upperBound
            marked += text[end..<bytes.lowerBound] + Array(FragmentMark.open.utf8) + text[bytes]
            marked += FragmentMark.close.utf8
            end = bytes.upperBound
        }
        let isCut = shown.upperBound < words.count
        marked += text[end..<(isCut ? words[shown.upperBound - 1].upperBound : text.count)]
        if isCut { marked += "…".utf8 }
        return String(decoding: marked, as: UTF8.self)
    }

    /// Matches that overlap become one.
    private static func joined(_ matches: [Range<Int>]) -> [Range<Int>] {
        matches.reduce(into: []) { joined, match in
            if let last = joined.last, match.lowerBound < last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, match.upperBound)
            } else {
                joined.append(match)
            }
        }
    }

    private static func shown(of count: Int, around matches: [Range<Int>]) -> Range<Int> {
        guard count > mostWords, let first = matches.first else { return 0..<count }
        let last = matches.last { $0.upperBound <= first.lowerBound + mostWords } ?? first
        if last.upperBound <= mostWords { return 0..<mostWords }
        let before = max(0, mostWords - (last.upperBound - first.lowerBound)) / 2
        let start = max(0, min(first.lowerBound - before, count - mostWords))
        return start..<(start + mostWords)
    }
}
