package import JSONText

/// A day without a time, as fields of type `date` have it: `2026-11-25`.
extension JSONText {
    /// Whether it is a day that the calendar has.
    package var isDay: Bool { string.map(Timestamp.isDay) ?? false }
}

extension Timestamp {
    /// A time as a caller writes it. Unlike one of the upstream's, it must be on a day that there is.
    package init?(written text: String) {
        guard Self.isDay(String(text.prefix(10))) else { return nil }
        self.init(iso8601: text)
    }

    package static func isDay(_ text: String) -> Bool {
        // A day beyond the end of its month is the first of the next one.
        text.utf8.count == 10 && Timestamp(iso8601: text)?.description.hasPrefix(text) == true
    }
}

extension TimeFormat {
    /// The day that a value of the upstream's, or of a caller, means; nil if it is neither a day nor a time in this format.
    func day(in value: JSONText) -> String? {
        guard let text = value.string else {
            return isNumber && value.kind == .number ? Int64(value.text).flatMap(day(of:)) : nil
        }
        if Timestamp.isDay(text) { return text }
        if let dayPattern { return dayPattern.day(in: text).flatMap { Timestamp.isDay($0) ? $0 : nil } }
        // The offset from UTC, if it has one, is that of its own midnight.
        let day = String(text.prefix(10))
        return Timestamp.isDay(day) && !isNumber && Timestamp(iso8601: text) != nil ? day : nil
    }

    /// Of seconds or milliseconds since 1970; nil beyond the years with four digits.
    package func day(of number: Int64) -> String? {
        let unit: Int64 = self == .epoch ? 1 : 1000
        guard (-62_167_219_200 * unit..<253_402_300_800 * unit).contains(number) else { return nil }
        return String(Timestamp(milliseconds: number * (1000 / unit)).description.prefix(10))
    }

    /// A day in this format; nil for any other value.
    func json(ofDay value: JSONText) -> JSONText? {
        guard value.isDay, let midnight = value.changeTime else { return nil }
        switch self {
        case .date: return value
        // Midnight there: the offset is written, and moves nothing.
        case .pattern(let pattern): return .string(pattern.text(midnight - (pattern.offset ?? .zero)))
        case .iso, .isoSpace, .http: return .string(text(midnight))
        case .epoch, .epochMilliseconds: return try? JSONText(parsing: text(midnight))
        }
    }

    /// The pattern that a day is read by, unless it is read as ISO 8601.
    package var dayPattern: TimePattern? {
        if case .pattern(let pattern) = self, !pattern.isISO { pattern } else { nil }
    }
}
