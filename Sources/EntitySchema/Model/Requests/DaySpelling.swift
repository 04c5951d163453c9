/// Where texts of one length have a day: `25.11.2026`.
package struct DaySpelling: Sendable, Equatable {
    /// As SQLite's GLOB has it.
    package private(set) var glob = ""
    /// Where the year, the month and the day begin, from 0.
    package private(set) var starts: (year: Int, month: Int, day: Int) = (0, 0, 0)
    private let pattern: TimePattern

    init(_ pattern: TimePattern) {
        self.pattern = pattern
        var position = 0
        for part in pattern.parts {
            switch part {
            case .text(let text):
                glob += text.map { "*?".contains($0) ? "[\($0)]" : String($0) }.joined()
                position += text.utf8.count
            case .digits(let at, let count):
                glob += String(repeating: "[0-9]", count: count)
                switch at {
                case 0: starts.year = position
                case 5: starts.month = position
                case 8: starts.day = position
                default: break
                }
                position += count
            }
        }
    }

    package static func == (one: DaySpelling, other: DaySpelling) -> Bool { one.pattern == other.pattern }

    /// In ISO 8601, whether or not the calendar has it; nil for a text of another form.
    package func day(in text: String) -> String? {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        for part in pattern.parts {
            switch part {
            case .text(let text):
                guard rest.starts(with: text.utf8) else { return nil }
                rest = rest.dropFirst(text.utf8.count)
            case .digits(_, let count):
                guard rest.count >= count, rest.prefix(count).allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
                rest = rest.dropFirst(count)
            }
        }
        guard rest.isEmpty else { return nil }
        func part(_ start: Int, _ count: Int) -> String {
            String(decoding: bytes[start..<start + count], as: UTF8.self)
        }
        return [part(starts.year, 4), part(starts.month, 2), part(starts.day, 2)].joined(separator: "-")
    }
}
