internal import EntitySchema
internal import Foundation

/// The days of a time zone as whole numbers, counted from 1970-01-01 local time.
struct LocalDays {
    private static let dayLength: Int64 = 86_400_000

    let zone: TimeZone

    func day(of time: Timestamp) -> Int {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.milliseconds) / 1000))
        return Int((Double(time.milliseconds + Int64(offset) * 1000) / Double(Self.dayLength)).rounded(.down))
    }

    /// The first moment at which the local date is that day or a later one.
    func start(of day: Int) -> Timestamp {
        // No zone is more than 15 hours from UTC.
        var early = Int64(day) * Self.dayLength - 54_000_000
        var late = early + 108_000_000
        while early < late {
            let middle = early + (late - early) / 2
            if self.day(of: Timestamp(milliseconds: middle)) < day { early = middle + 1 } else { late = middle }
        }
        return Timestamp(milliseconds: early)
    }

    /// Months since year 0, by the calendar that `Timestamp` writes dates in.
    static func month(of day: Int) -> Int {
        let date = Timestamp(milliseconds: Int64(day) * dayLength).description.prefix(7).split(separator: "-")
        return (Int(date[0]) ?? 0) * 12 + (Int(date[1]) ?? 1) - 1
    }

    /// Weeks that begin on Monday; 1970-01-01 was a Thursday.
    static func week(of day: Int) -> Int { Int((Double(day + 3) / 7).rounded(.down)) }
}
