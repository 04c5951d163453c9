/// The form in which an upstream writes times: `yyyy-MM-dd HH:mm:ss`, `dd/MM/yyyy`, `yyyy-MM-ddTHH:mm:ss.SSS+0200`.
///
/// The letters are those of Unicode's date patterns (TR 35), each with a fixed width. A pattern that ends with an offset is
/// for times at that offset, any other for times in UTC. An offset in brackets, as in `HH:mm[-08:00]`, is not part of the
/// text.
package struct TimePattern: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
        case text(String)
        /// `count` characters of `2026-01-31T09:00:00.000`, from position `at`.
        case digits(at: Int, count: Int)
    }

    /// As written in the schema.
    package let source: String
    package let parts: [Part]
    /// How far its times are ahead of UTC; nil if the pattern has no offset.
    package let offset: Duration?
    /// It has an offset that its texts do not show.
    package private(set) var hidesOffset = false
    /// The unit of its smallest part: a day for `yyyy-MM-dd`.
    package let precision: Duration
    /// Whether its texts are also ISO 8601 with the same meaning, so that reading them does not need the pattern.
    package private(set) var isISO = false

    /// The parts, largest first: letter, position in ISO 8601, number of digits, and unit.
    private static let letters: [(letter: Character, at: Int, widths: ClosedRange<Int>, unit: Duration)] = [
        ("y", 0, 4...4, .zero), ("M", 5, 2...2, .zero), ("d", 8, 2...2, .seconds(86_400)),
        ("H", 11, 2...2, .seconds(3600)), ("m", 14, 2...2, .seconds(60)), ("s", 17, 2...2, .seconds(1)),
        ("S", 20, 1...9, .milliseconds(1)),
    ]

    /// Nil unless the pattern has a year, a month and a day, and for each smaller part all larger ones.
    package init?(_ source: String) {
        var rest = source[...]
        var offset = Self.takeOffset(from: &rest)
        var parts: [Part] = []
        var found: [Int] = []
        while let character = rest.first {
            let run = rest.prefix { $0 == character }
            rest = rest.dropFirst(run.count)
            if let index = Self.letters.firstIndex(where: { $0.letter == character }) {
                guard Self.letters[index].widths.contains(run.count), !found.contains(index) else { return nil }
                found.append(index)
                parts.append(.digits(at: Self.letters[index].at, count: run.count))
            } else {
                guard Self.isPlain(character) else { return nil }
                parts.append(.text(String(run)))
            }
        }
        guard found.count >= 3, found.sorted() == Array(0..<found.count) else { return nil }
        if let sent = offset?.sent { parts.append(.text(sent)) }
        if offset == nil, source.hasSuffix("Z") { offset = (.zero, nil) }
        self.source = source
        self.parts = parts
        self.offset = offset?.ahead
        hidesOffset = source.hasSuffix("]")
        precision = Self.letters[found.count - 1].unit
        // The day is greater than twelve and all parts differ, so ISO 8601 cannot read them in another order.
        let sample = text(Timestamp(milliseconds: 1_793_483_156_789))
        isISO = time(sample).map { Timestamp(iso8601: sample) == $0 } ?? false
    }

    /// Whether a character of the pattern stands for itself: `T`, `Z`, and punctuation without another meaning.
    private static func isPlain(_ character: Character) -> Bool {
        character == "T" || character == "Z"
            || character.isASCII && !character.isLetter && !character.isNumber && !"[]{}%'\"\\".contains(character)
    }

    /// Removes the offset at the end: `+02:00` or `-0800`, or the same in brackets; `sent` is nil for the latter.
    private static func takeOffset(from rest: inout Substring) -> (ahead: Duration, sent: String?)? {
        guard let match = rest.firstMatch(of: #/(\[)?([+-])([0-9]{2}):?([0-9]{2})(\])?$/#),
            let hours = Int64(match.3), let minutes = Int64(match.4), hours < 15, minutes < 60,
            (match.1 == nil) == (match.5 == nil)
        else { return nil }
        let text = String(rest[match.range])
        rest = rest[..<match.range.lowerBound]
        let ahead = Duration.seconds((hours * 3600 + minutes * 60) * (match.2 == "-" ? -1 : 1))
        return (ahead, match.1 == nil ? text : nil)
    }

    /// Whether it has no hours.
    package var isDay: Bool { precision >= .seconds(86_400) }

    /// The time in this form, rounded down to the pattern's precision.
    package func text(_ time: Timestamp) -> String {
        let iso = Array((time + (offset ?? .zero)).description.utf8)
        return parts.map { part in
            switch part {
            case .text(let text): text
            case .digits(let at, let count):
                // A timestamp has milliseconds; finer digits are 0.
                String(decoding: iso[at..<min(at + count, iso.count - 1)], as: UTF8.self)
                    + String(repeating: "0", count: max(at + count - (iso.count - 1), 0))
            }
        }.joined()
    }

    /// The time that a text of this form means; nil for any other text.
    package func time(_ text: String) -> Timestamp? {
        iso(text).flatMap(Timestamp.init(iso8601:)).map { $0 - (offset ?? .zero) }
    }

    /// The day in a text of this form, in ISO 8601; nil for any other text. It may be one that no calendar has.
    package func day(in text: String) -> String? { iso(text).map { String($0.prefix(10)) } }

    /// A text of this form rewritten in ISO 8601, with 0 for the parts that it lacks; nil for any other text.
    private func iso(_ text: String) -> String? {
        var iso = Array("0000-00-00T00:00:00.000000000Z".utf8)
        var rest = Array(text.utf8)[...]
        for part in parts {
            switch part {
            case .text(let text):
                guard rest.starts(with: text.utf8) else { return nil }
                rest = rest.dropFirst(text.utf8.count)
            case .digits(let at, let count):
                guard rest.count >= count, rest.prefix(count).allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
                iso.replaceSubrange(at..<at + count, with: rest.prefix(count))
                rest = rest.dropFirst(count)
            }
        }
        return rest.isEmpty ? String(decoding: iso, as: UTF8.self) : nil
    }

    /// The pattern of a text in ISO 8601; nil for any other text.
    package init?(like text: String) {
        let layout = Array("yyyy-MM-ddTHH:mm:ss".utf8)
        var source = ""
        var rest = Array(text.utf8)[...]
        for (byte, letter) in zip(rest, layout) {
            let isDigit = byte &- 0x30 < 10
            // Anything else begins the fraction or the offset.
            guard isDigit == (letter | 0x20 >= 0x61 && letter != UInt8(ascii: "T")) else { break }
            source.unicodeScalars.append(Unicode.Scalar(isDigit ? letter : byte))
            rest = rest.dropFirst()
        }
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
            source += "." + String(repeating: "S", count: digits.count)
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let time = Timestamp(iso8601: text) else { return nil }
        self.init(source + String(decoding: rest, as: UTF8.self))
        guard self.text(time) == text else { return nil }
    }
}
