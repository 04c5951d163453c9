/// The numbers that JSON does not have and some servers still write: `NaN`, `Infinity` and `-Infinity`.
///
/// `JSONText` refuses them. `Upstream` replaces them in an answer, and they are reported as drift.
package struct NonFiniteNumbers: Sendable {
    /// The text with a zero in the place of each of them, padded with spaces, so that every offset stays.
    package let replaced: [UInt8]
    /// The offsets at which they are, in order.
    package let offsets: [Int]

    private static let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }

    /// Nil when the text has none outside strings.
    package init?(_ text: ArraySlice<UInt8>) {
        var bytes = Array(text)
        var offsets: [Int] = []
        var at = 0
        var isInString = false
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\\") where isInString: at += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "N"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                guard !isInString, !Self.isWithinNumber(bytes[..<at]),
                    let word = Self.words.first(where: { bytes[at...].starts(with: $0) })
                else { break }
                offsets.append(at)
                bytes[at] = UInt8(ascii: "0")
                for index in (at + 1)..<(at + word.count) { bytes[index] = UInt8(ascii: " ") }
                at += word.count - 1
            default: break
            }
            at += 1
        }
        guard !offsets.isEmpty else { return nil }
        replaced = bytes
        self.offsets = offsets
    }

    /// Whether the text ends in a number: `1NaN` must not become 10.
    private static func isWithinNumber(_ text: ArraySlice<UInt8>) -> Bool {
        text.last.map { "+-.eE0123456789".utf8.contains($0) } ?? false
    }
}
