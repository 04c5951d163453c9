/// A point in time to the millisecond, UTC.
///
/// Written and read as ISO 8601 without a formatter, because lists write one per record. Sums and differences beyond what
/// 64 bits hold are the nearest that they do, because times also come from files.
package struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (one: Timestamp, other: Timestamp) -> Bool { one.milliseconds < other.milliseconds }

    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.clampedSum(duration.milliseconds))
    }

    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.clampedDifference(duration.milliseconds))
    }

    /// The duration since `earlier`; negative when that is later.
    package func since(_ earlier: Timestamp) -> Duration {
        .milliseconds(milliseconds.clampedDifference(earlier.milliseconds))
    }

    /// `2026-11-21T10:42:00.000Z`. A time before the year 0 or after 9999, which an offset can make, is shown as the nearest
    /// that ISO 8601 can write.
    package var description: String { String(decoding: utf8, as: UTF8.self) }

    package var utf8: [UInt8] {
        let milliseconds = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let days = milliseconds.flooredQuotient(86_400_000)
        let (year, month, day) = Self.civil(days: days)
        let rest = milliseconds - days * 86_400_000
        var bytes = Array("0000-00-00T00:00:00.000Z".utf8)
        /// Writes the digits of a number from the last to the first.
        func write(_ value: Int64, _ places: Range<Int>) {
            var (rest, place) = (value, places.upperBound)
            while place > places.lowerBound {
                place -= 1
                bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        write(year, 0..<4)
        write(month, 5..<7)
        write(day, 8..<10)
        write(rest / 3_600_000, 11..<13)
        write(rest / 60_000 % 60, 14..<16)
        write(rest / 1000 % 60, 17..<19)
        write(rest % 1000, 20..<23)
        return bytes
    }

    /// The proleptic Gregorian date of a day count from 1970 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.flooredQuotient(400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Timestamp {
    /// Reads ISO 8601 as APIs write it: a date, or date and time with optional seconds, any fraction (cut to
    /// milliseconds), and `Z`, `±hh:mm`, `±hhmm`, `±hh` or nothing for UTC. Nil for anything else.
    package init?(iso8601 text: String) { self.init(iso8601: text, clock: .zero) }

    /// Like `init(iso8601:)`; a time without zone is by a clock that is this far ahead of UTC.
    init?(iso8601 text: String, clock: Duration) {
        var reader = TimeReader(bytes: Array(text.utf8))
        guard let year = reader.number(4, in: 0...9999), reader.skip(UInt8(ascii: "-")),
            let month = reader.number(2, in: 1...12), reader.skip(UInt8(ascii: "-")),
            let day = reader.number(2, in: 1...31)
        else { return nil }
        var time = Self.days(year: year, month: month, day: day) * 86_400_000
        guard !reader.isAtEnd else {
            milliseconds = time - clock.milliseconds
            return
        }
        guard reader.skip(UInt8(ascii: "T")) || reader.skip(UInt8(ascii: " ")),
            let hour = reader.number(2, in: 0...23), reader.skip(UInt8(ascii: ":")),
            let minute = reader.number(2, in: 0...59)
        else { return nil }
        time += hour * 3_600_000 + minute * 60_000
        if reader.skip(UInt8(ascii: ":")) {
            guard let second = reader.number(2, in: 0...60) else { return nil }
            time += second * 1000
            if reader.skip(UInt8(ascii: ".")) {
                guard let fraction = reader.thousandths() else { return nil }
                time += fraction
            }
        }
        let isAhead = reader.skip(UInt8(ascii: "+"))
        if isAhead || reader.skip(UInt8(ascii: "-")) {
            guard let hours = reader.number(2, in: 0...23) else { return nil }
            // PostgreSQL writes the hours alone.
            let isWhole = reader.isAtEnd
            _ = reader.skip(UInt8(ascii: ":"))
            guard let minutes = isWhole ? 0 : reader.number(2, in: 0...59) else { return nil }
            time -= (isAhead ? 1 : -1) * (hours * 3_600_000 + minutes * 60_000)
        } else if !reader.skip(UInt8(ascii: "Z")) {
            time -= clock.milliseconds
        }
        guard reader.isAtEnd else { return nil }
        milliseconds = time
    }
}

/// Reads the parts of a time one after the other.
private struct TimeReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    /// Moves past exactly `digits` digits.
    mutating func number(_ digits: Int, in range: ClosedRange<Int64>) -> Int64? {
        var value: Int64 = 0
        let end = at + digits
        while at < end {
            guard let digit else { return nil }
            value = value * 10 + digit
            at += 1
        }
        return range.contains(value) ? value : nil
    }

    /// Moves past any number of digits after a point, and returns the first three as milliseconds; nil without a digit.
    mutating func thousandths() -> Int64? {
        var value: Int64 = 0
        var unit: Int64 = 100
        let start = at
        while let digit {
            value += digit * unit
            unit /= 10
            at += 1
        }
        return at > start ? value : nil
    }

    /// Moves past the byte; false if another one comes next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard at < bytes.count, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    private var digit: Int64? {
        guard at < bytes.count, bytes[at] &- 0x30 < 10 else { return nil }
        return Int64(bytes[at] - 0x30)
    }
}

extension Int64 {
    /// The nearest value that there is.
    func clampedSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func clampedDifference(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    package func flooredQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
