package import EntitySchema
internal import Foundation

/// Where days, weeks and months begin in one time zone. With daylight saving time, some days have 23 or 25 hours.
package struct DashboardCalendar: Sendable {
    /// A named period, or one that it is compared with.
    struct Stretch {
        var name: String
        var range: Range<Timestamp>
    }

    /// A day of the Gregorian calendar. Month and day may be out of range: day 0 is the last of the month before.
    private struct Day {
        var year: Int
        var month: Int
        var day: Int

        func adding(days: Int = 0, months: Int = 0) -> Day {
            Day(year: year, month: month + months, day: day + days)
        }
    }

    private let calendar: Calendar

    /// Nil when there is no such zone; `identifier` as in the tz database (`Europe/London`).
    package init?(timeZone identifier: String) {
        guard let zone = TimeZone(identifier: identifier) else { return nil }
        self.init(zone)
    }

    /// The system's own time zone.
    package static var ofSystem: DashboardCalendar { DashboardCalendar(.autoupdatingCurrent) }

    package static let utc = DashboardCalendar(.gmt)

    private init(_ zone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
    }

    package var timeZone: String { calendar.timeZone.identifier }

    /// An hour of a date (`2026-03-01`), or the first moment after it if the clocks skip that hour; nil for a date that
    /// does not exist.
    package func time(ofHour hour: Int, onDate text: String) -> Timestamp? {
        guard let start = Timestamp(iso8601: text) else { return nil }
        var utc = Calendar(identifier: .gregorian)
        utc.timeZone = .gmt
        var parts = utc.dateComponents([.year, .month, .day], from: start.date)
        // A day that its month does not have is read as one of the next month.
        guard String(start.description.prefix(10)) == text else { return nil }
        parts.hour = hour
        return calendar.date(from: parts).map(Timestamp.init)
    }

    /// The period at a moment, then what it is compared with: the period before it and, for a period under way, the
    /// part of that one up to the same point (as many whole days, and the same time since midnight).
    func stretches(of period: DashboardPeriod, at now: Timestamp) -> [Stretch] {
        let date = calendar.dateComponents([.year, .month, .day, .weekday], from: now.date)
        let today = Day(year: date.year ?? 1970, month: date.month ?? 1, day: date.day ?? 1)
        // Foundation counts weekdays from Sunday, which is 1.
        let weekday = ((date.weekday ?? 2) + 5) % 7
        let (start, days, months): (Day, Int, Int) =
            switch period {
            case .today: (today, 1, 0)
            case .yesterday: (today.adding(days: -1), 1, 0)
            case .thisWeek: (today.adding(days: -weekday), 7, 0)
            case .thisMonth: (Day(year: today.year, month: today.month, day: 1), 0, 1)
            case .lastMonth: (Day(year: today.year, month: today.month - 1, day: 1), 0, 1)
            }
        let before = start.adding(days: -days, months: -months)
        let whole = midnight(before)..<midnight(start)
        var stretches = [
            Stretch(
                name: period.rawValue, range: midnight(start)..<midnight(start.adding(days: days, months: months))),
            Stretch(name: period.previous, range: whole),
        ]
        guard period.isUnderWay else { return stretches }
        let passed = today.day - start.day
        let samePoint = min(
            midnight(before.adding(days: passed)) + now.since(midnight(today)),
            midnight(before.adding(days: passed + 1)), whole.upperBound)
        stretches.append(Stretch(name: period.previous + "_to_date", range: whole.lowerBound..<samePoint))
        return stretches
    }

    /// The first moment of a day, which is not always 0:00. It starts from noon, which clocks never skip.
    private func midnight(_ day: Day) -> Timestamp {
        let noon = calendar.date(from: DateComponents(year: day.year, month: day.month, day: day.day, hour: 12))
        return Timestamp(calendar.startOfDay(for: noon ?? .distantPast))
    }
}

extension Timestamp {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    fileprivate init(_ date: Date) {
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
