/// The beginning of a text from outside, where its length must be bounded.
///
/// `prefix` and `count` of a text count characters, and one character can have millions of combining marks.
extension StringProtocol {
    /// At most `most` Unicode scalars from the start, and so at most four times as many bytes.
    package func start(scalars most: Int) -> SubSequence {
        self[..<(unicodeScalars.index(startIndex, offsetBy: most, limitedBy: endIndex) ?? endIndex)]
    }

    /// Whether it has more Unicode scalars than `most`. Looks no further than that.
    package func isLonger(thanScalars most: Int) -> Bool { start(scalars: most).endIndex < endIndex }
}

extension String {
    /// The text if it has at most `most` bytes of UTF-8, else what fits into them with a `…` at its end. No scalar is
    /// cut in two.
    package func cut(toBytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, most - "…".utf8.count))
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }

    /// The same for a number of Unicode scalars.
    package func cut(toScalars most: Int) -> String {
        isLonger(thanScalars: most) ? "\(start(scalars: max(0, most - 1)))…" : self
    }
}
