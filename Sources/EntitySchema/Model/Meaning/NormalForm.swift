package import JSONText

/// What a server was seen to make of the values of one field that it was sent.
package enum NormalForm: String, Sendable, Equatable, CaseIterable {
    /// Text without the spaces around it, or without those at one end.
    case trimmed
    /// The same, with each run of white space inside collapsed to one space, as by Rails' `squish` and HTML.
    case squished
    case lowercased, uppercased
    /// Fewer digits after the point.
    case rounded
    /// A number of 32 bits, or one that was calculated: 19.99 as 19.989999771118164, 0.3 as 0.30000000000000004.
    case single
    /// Times without what is less than a second, or a minute.
    case seconds, minutes
    /// A list in another order.
    case sorted
    /// A list of names without spaces around them, each once, or of objects that have the names. Of a text, such as Shopify's
    /// tags, the names between its commas, in any order. With `lowercased`, they may be in another case.
    case named
    /// Null as an empty text or as `false`, or one of these as another.
    case emptied
    /// Text with `&`, `<`, `>` and quotes as HTML writes them, as Snipe-IT and other programs in PHP answer it.
    case escaped
    /// Text as paragraphs of HTML, as WordPress and WooCommerce answer it.
    case paragraphs
    /// A telephone number with other separators, or none: `(555) 123-4567` as `5551234567`, as Syncro answers it.
    case separated
}

extension Field {
    /// The forms that lead from `value` to a server's `answer`: none if both mean the same, nil if no known form does.
    package func forms(from value: JSONText, to answer: JSONText) -> Set<NormalForm>? {
        if isSame(value, answer) { return [] }
        guard mayBeSameText(value, answer) else { return nil }
        return Self.combinations.first { forms in
            forms.allSatisfy(isPossible) && isSame(value, answer, under: Set(forms), directed: true)
        }.map(Set.init)
    }

    /// From the least to the most.
    private static let combinations: [[NormalForm]] = [
        [.trimmed], [.lowercased], [.uppercased], [.rounded], [.single], [.seconds], [.minutes], [.sorted], [.emptied],
        [.escaped], [.trimmed, .escaped], [.trimmed, .lowercased], [.trimmed, .uppercased], [.trimmed, .emptied],
        [.squished], [.squished, .lowercased], [.squished, .escaped], [.paragraphs], [.escaped, .paragraphs],
        [.named], [.named, .sorted], [.named, .lowercased], [.named, .lowercased, .sorted],
        [.separated],
    ]

    /// By how much a form may lengthen a text: a letter may become `&#0000038;`, and the whole stand in `<p>` and `</p>`.
    private static let (mostTimes, mostAround) = (10, 20)

    /// False only for texts that differ in more than case, white space, the order of names and separators of digits, if the
    /// answer has no HTML, and for an answer that is too long. No form leads from one to the other then, and a long text need
    /// not be tried with each.
    private func mayBeSameText(_ value: JSONText, _ answer: JSONText) -> Bool {
        guard isPossible(.trimmed), value.kind == .string, answer.kind == .string else { return true }
        let (mine, theirs) = (value.plain, answer.plain)
        guard theirs.utf8.count <= Self.mostTimes * mine.utf8.count + Self.mostAround else { return false }
        let isHTML = theirs.utf8.contains { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }
        return isHTML || mine.letters == theirs.letters
            || ListNames([.lowercased], inAnyOrder: true).areSame(mine, theirs)
            || mine.isSameNumber(as: theirs)
    }

    private func isPossible(_ form: NormalForm) -> Bool {
        switch (form, kind) {
        case (.trimmed, .string), (.trimmed, .enum), (.trimmed, .reference), (.lowercased, .string),
            (.lowercased, .enum), (.lowercased, .list), (.uppercased, .string), (.uppercased, .enum),
            (.emptied, .string), (.emptied, .enum),
            (.emptied, .reference), (.emptied, .time), (.emptied, .date), (.emptied, .integer), (.emptied, .number),
            (.emptied, .money), (.emptied, .boolean), (.rounded, .number), (.rounded, .money),
            (.rounded, .integer), (.single, .number), (.single, .money), (.seconds, .time), (.minutes, .time),
            (.escaped, .string), (.paragraphs, .string), (.squished, .string), (.named, .list), (.named, .string),
            (.separated, .string):
            true
        // Sets are the same in any order.
        case (.sorted, .list): !mergesAsSet
        default: false
        }
    }
}

extension String {
    /// Without white space, in one case. Both changes of case are needed: "ß" becomes "SS".
    fileprivate var letters: String {
        MarkRun.shortened(uppercased().lowercased().filter { !$0.isWhitespace }, upTo: MarkRun.longestUpstream)
    }

    /// A text of fewer digits is no telephone number, nor is one of more characters.
    private static let (leastDigits, longestNumber) = (7, 40)

    /// Whether both are the same telephone number, with other separators between its digits. With the same ones between other
    /// digits, as `192.168.1.11` and `192.168.11.1` or `1.11.2026` and `11.1.2026`, they are no telephone numbers.
    func isSameNumber(as other: String) -> Bool {
        guard let numerals, numerals == other.numerals else { return false }
        return filter { !$0.isDigit } != other.filter { !$0.isDigit }
    }

    /// The digits of a telephone number; nil for any other text.
    private var numerals: String? {
        guard utf8.count <= Self.longestNumber, allSatisfy({ $0.isDigit || " +-./()\u{a0}".contains($0) })
        else { return nil }
        let digits = filter(\.isDigit)
        return digits.count >= Self.leastDigits ? digits : nil
    }
}

extension JSONText {
    /// Whether a number is what becomes of this one in 32 bits, or by calculating in 64 bits. Others of the same 32 bits, such as
    /// 300000.02 for 300000.01, are other numbers.
    func isBinary(_ answer: JSONText) -> Bool {
        guard let mine = Double(plain), let theirs = Double(answer.plain), mine.isFinite, theirs.isFinite else {
            return false
        }
        return Double(Float(mine)) == theirs || abs(mine - theirs) <= 4 * mine.ulp
    }
}

extension Character {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
