/// Where the texts of a pattern have the day, for a query: `25.11.2026`.
package struct DaySpelling: Sendable {
    /// The form of the texts, for SQLite's GLOB.
    package private(set) var glob = ""
    /// Where the year, the month and the day begin, from 0.
    package private(set) var starts: (year: Int, month: Int, day: Int) = (0, 0, 0)

    package init(_ pattern: TimePattern) {
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
}
