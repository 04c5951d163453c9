/// Counts the combining marks in a row in a text, scalar by scalar.
///
/// Swift compares texts in their normal form, and sorts the marks of a run in a time that grows with the square of its length.
/// With a header field of 15 KB, a caller could keep all others waiting for a third of a second.
package struct MarkRun {
    /// That of the Stream-Safe Text Format (UAX #15, 13), for what callers send. No language needs as many.
    package static let longest = 30
    /// For what an upstream answers, since people may have written it for fun. A megabyte of such runs is compared in 0.2 s.
    package static let longestUpstream = 128
    /// For what another program may have written into a file. The daemon itself joins a few texts of an upstream at most.
    package static let longestStored = 1024

    private let longest: Int
    private(set) var length = 0

    package init(upTo longest: Int = Self.longest) { self.longest = longest }

    /// Takes the next scalar. False if the run is too long with it.
    package mutating func isShort(with scalar: Unicode.Scalar) -> Bool {
        // Before U+0300 there are none.
        let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
        length = isMark ? length + 1 : 0
        return length <= longest
    }

    /// Whether no run in the text is too long.
    package static func areShort(in text: String, upTo longest: Int = Self.longest) -> Bool {
        // Nearly every text has no such byte. U+0300 and later begin with 0xCC or more in UTF-8.
        guard text.utf8.contains(where: { $0 >= 0xCC }) else { return true }
        var run = MarkRun(upTo: longest)
        return text.unicodeScalars.allSatisfy { run.isShort(with: $0) }
    }

    /// The text with U+FFFD in the place of each mark that would make a run too long.
    ///
    /// Needed again for what is made of a text that was checked: runs grow where escapes are decoded, and where something
    /// between two marks is left out.
    package static func shortened(_ text: String, upTo longest: Int = Self.longest) -> String {
        guard !areShort(in: text, upTo: longest) else { return text }
        var run = MarkRun(upTo: longest)
        var shortened = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if run.isShort(with: scalar) {
                shortened.append(scalar)
            } else {
                shortened.append("\u{FFFD}")
                run = MarkRun(upTo: longest)
            }
        }
        return String(shortened)
    }
}
