/// How a time is spelled by its parts: `yyyy-MM-dd HH:mm:ss`, `dd/MM/yyyy`, `yyyy-MM-ddTHH:mm:ss.SSS+0200`.
///
/// The letters are those of Unicode's date patterns (TR 35) with a fixed width. The time is in UTC, or at the offset at
/// the pattern's end; one in brackets, as in `HH:mm[-08:00]`, is not written.
package struct TimePattern: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
        case text(String)
        /// So many characters of `2026-01-31T09:00:00.000`, from this one.
        case digits(at: Int, count: Int)
    }

    /// As written in the schema.
    package let source: String
    package let parts: [Part]
    /// What the upstream's clock is ahead of UTC; nil if the pattern does not say.
    package let offset: Duration?
    /// The smallest part of a time that it has.
    package let precision: Duration
    /// Whether what it writes is ISO 8601 with the same meaning: then it is read without knowing the pattern.
    package private(set) var isISO = false

    /// Each part: its letter, where it stands in ISO 8601, how long it is, and what is lost with all behind it.
    private static let letters: [(letter: Character, at: Int, widths: ClosedRange<Int>, unit: Duration)] = [
        ("y", 0, 4...4, .zero), ("M", 5, 2...2, .zero), ("d", 8, 2...2, .seconds(86_400)),
        ("H", 11, 2...2, .seconds(3600)), ("m", 14, 2...2, .seconds(60)), ("s", 17, 2...2, .seconds(1)),
        ("S", 20, 1...9, .milliseconds(1)),
    ]

    /// Nil for what is no pattern: a day needs year, month and day, and each smaller part all larger ones.
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
        precision = Self.letters[found.count - 1].unit
        // A day beyond twelve and a time of which each part differs: no other order of the parts reads the same.
        let sample = text(Timestamp(milliseconds: 1_793_483_156_789))
        isISO = time(sample).map { Timestamp(iso8601: sample) == $0 } ?? false
    }

    /// Letters stand for parts, but for those that times are written with; digits would be read as one.
    private static func isPlain(_ character: Character) -> Bool {
        character == "T" || character == "Z"
            || character.isASCII && !character.isLetter && !character.isNumber && !"[]{}%'\"\\".contains(character)
    }

    /// `+02:00` or `-0800` at the end, or the same in brackets, which is not sent.
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

    /// The time, cut to the pattern's precision and so never later.
    package func text(_ time: Timestamp) -> String {
        let iso = Array((time + (offset ?? .zero)).description.utf8)
        return parts.map { part in
            switch part {
            case .text(let text): text
            case .digits(let at, let count):
                // What is finer than a millisecond is 0.
                String(decoding: iso[at..<min(at + count, iso.count - 1)], as: UTF8.self)
                    + String(repeating: "0", count: max(at + count - (iso.count - 1), 0))
            }
        }.joined()
    }

    /// What `text` makes of a time, cut; nil for any other text.
    package func time(_ text: String) -> Timestamp? {
        iso(text).flatMap(Timestamp.init(iso8601:)).map { $0 - (offset ?? .zero) }
    }

    /// The day in a text of this form, in ISO 8601, whether or not the calendar has it; nil for any other text.
    package func day(in text: String) -> String? { iso(text).map { String($0.prefix(10)) } }

    /// The parts of a text of this form at their places in ISO 8601.
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

    /// How a time in ISO 8601 is spelled; nil for any other text.
    package init?(like text: String) {
        let layout = Array("yyyy-MM-ddTHH:mm:ss".utf8)
        var source = ""
        var rest = Array(text.utf8)[...]
        for (byte, letter) in zip(rest, layout) {
            let isDigit = byte &- 0x30 < 10
            // What comes after the last part is an offset.
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
