internal import JSONText

/// Whether a server may have made one text out of another in a way that is never taken for the same: escaped for HTML,
/// without tags, cut, with other spaces, punctuation, case or accents, with a number before or behind it, a telephone number
/// in another form, or an address on the web with its scheme. Only for asking whether a record may be the one that was sent.
enum TextLikeness {
    /// A text of fewer letters and digits is no beginning of another one.
    private static let leastBeginning = 6
    /// A longer text is no title that is numbered.
    private static let longestTitle = 500
    /// How many bytes a number with its signs has at most.
    private static let mostAround = 20
    /// A text of fewer digits is no telephone number.
    private static let leastNumber = 7

    static func mayBecome(_ sent: String, _ answer: String) -> Bool {
        isAlike(letters(of: sent), letters(of: answer))
            || isSameNumber(sent, answer)
            || isNumbered(sent, answer)
            || (hasTags(sent) || hasTags(answer))
                && isAlike(letters(of: withoutTags(sent)), letters(of: withoutTags(answer)))
    }

    private static func hasTags(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "<")) }

    private static func isAlike(_ sent: String, _ answer: String) -> Bool {
        guard !answer.isEmpty else { return false }
        return sent == answer || answer.count >= leastBeginning && sent.hasPrefix(answer)
            || mayHaveLostAccents(sent, answer)
    }

    /// The letters and digits in lower case, without escapes of HTML and what a web address begins with. Swift compares them
    /// in any normal form of Unicode.
    private static func letters(of text: String) -> String {
        let plain = text.replacing(#/&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|[a-zA-Z]{2,8});/#) { match in
            let code = match.1.flatMap { UInt32($0) } ?? match.2.flatMap { UInt32($0, radix: 16) }
            return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
        }
        let rest = plain.lowercased().trimmingPrefix(#/https?://(?:www\.)?/#)
        return MarkRun.shortened(rest.filter { $0.isLetter || $0.isNumber }, upTo: MarkRun.longestUpstream)
    }

    /// Without everything from a `<` to the next `>`. In one walk: a regular expression would look for the end from each `<` to
    /// the end of the text, which took a second for 4 KB of them, in each record of a list.
    private static func withoutTags(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            kept += rest[..<start]
            rest = rest[end...].dropFirst()
        }
        return MarkRun.shortened(String(kept + rest), upTo: MarkRun.longestUpstream)
    }

    /// Whether the answer has all ASCII letters in order, and at most two characters in place of each other letter: `ü`
    /// as `u`, `ue` or `?`, or in another encoding. Most of the text must be ASCII.
    private static func mayHaveLostAccents(_ sent: String, _ answer: String) -> Bool {
        let kept = sent.filter(\.isASCII)
        let others = sent.count - kept.count
        guard others > 0, others < kept.count, answer.count <= kept.count + 2 * others else { return false }
        var rest = kept[...]
        for character in answer where character == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }

    /// Whether the answer has only a number or signs around the text, such as `[#12]` before it or `(2)` behind.
    private static func isNumbered(_ sent: String, _ answer: String) -> Bool {
        guard (1...mostAround).contains(answer.utf8.count - sent.utf8.count), sent.utf8.count <= longestTitle,
            letters(of: sent).count >= leastBeginning, let place = answer.firstRange(of: sent)
        else { return false }
        let (before, after) = (answer[..<place.lowerBound], answer[place.upperBound...])
        return before.last?.isNumber != true && after.first?.isNumber != true
            && !before.contains(where: \.isLetter) && !after.contains(where: \.isLetter)
    }

    /// Whether both have no letters, and one has a prefix that the other lacks, such as `+44` in place of `0`.
    private static func isSameNumber(_ sent: String, _ answer: String) -> Bool {
        guard let sent = digits(of: sent), let answer = digits(of: answer) else { return false }
        return min(sent.count, answer.count) >= leastNumber && (sent.hasSuffix(answer) || answer.hasSuffix(sent))
    }

    /// The digits without leading zeros; nil if there are letters.
    private static func digits(of text: String) -> String? {
        guard !text.contains(where: \.isLetter) else { return nil }
        return String(text.replacing("(0)", with: "").filter { ("0"..."9").contains($0) }.drop { $0 == "0" })
    }
}
