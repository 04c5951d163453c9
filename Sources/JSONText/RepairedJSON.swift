/// What JSON does not have and some servers still write: the numbers `NaN`, `Infinity` and `-Infinity`, and in strings control
/// characters, bytes that are not UTF-8 and unknown escapes.
///
/// `JSONText` refuses them. `Upstream` replaces them in an answer, and they are reported as drift.
package struct RepairedJSON: Sendable {
    /// The text with a zero in the place of each such number, padded with spaces, and a question mark in that of each such
    /// byte of a string, so that every offset stays.
    package let text: [UInt8]
    /// The offsets at which these numbers are, in order.
    package let numbers: [Int]
    /// The offsets of the bytes that were replaced in strings, in order.
    package let bytes: [Int]

    private static let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }

    /// Nil when the text has nothing of the kind.
    package init?(_ text: ArraySlice<UInt8>) {
        var repaired = Array(text)
        var numbers: [Int] = []
        var bytes: [Int] = []
        var at = 0
        while at < repaired.count {
            switch repaired[at] {
            case UInt8(ascii: "\""):
                at = Self.repairString(from: at + 1, in: &repaired, &bytes)
                continue
            case UInt8(ascii: "N"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                guard !Self.isWithinNumber(repaired[..<at]),
                    let word = Self.words.first(where: { repaired[at...].starts(with: $0) })
                else { break }
                numbers.append(at)
                repaired[at] = UInt8(ascii: "0")
                for index in (at + 1)..<(at + word.count) { repaired[index] = UInt8(ascii: " ") }
                at += word.count - 1
            default: break
            }
            at += 1
        }
        guard !numbers.isEmpty || !bytes.isEmpty else { return nil }
        (self.text, self.numbers, self.bytes) = (repaired, numbers, bytes)
    }

    /// From the place after its opening quote; returns the one after its closing quote, or the end of the text.
    private static func repairString(from start: Int, in text: inout [UInt8], _ places: inout [Int]) -> Int {
        text.withUnsafeMutableBufferPointer { text in
            var scanner = JSONScanner(UnsafeBufferPointer(text))
            scanner.at = start
            while scanner.at < text.count {
                let place = scanner.at
                do {
                    if try scanner.skipCharacter() { break }
                } catch {
                    text[place] = UInt8(ascii: "?")
                    places.append(place)
                    scanner.at = place + 1
                }
            }
            return scanner.at
        }
    }

    /// Whether the text ends in a number: `1NaN` must not become 10.
    private static func isWithinNumber(_ text: ArraySlice<UInt8>) -> Bool {
        text.last.map { "+-.eE0123456789".utf8.contains($0) } ?? false
    }
}
