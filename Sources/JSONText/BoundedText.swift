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
