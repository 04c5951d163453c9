/// The figures that people look at first, as the schema says to work them out.
package struct DashboardPlan: Sendable, Equatable {
    /// Where the upstream answers the same figures itself; nil where it does not.
    package var path: String?
    /// In the order of the file, which is the order of answering.
    package var figures: [Figure]

    /// One number over the records of an entity whose time lies in a period.
    package struct Figure: Sendable, Equatable {
        package var name: String
        package var entity: String
        /// The field with the time that decides to which period a record belongs.
        package var at: String
        package var measure: Measure
        /// All must hold for a record to count.
        package var conditions: [Condition]
        /// The field with the user to whom a record belongs; nil where it belongs to nobody in particular.
        package var user: String?
    }

    package enum Measure: Sendable, Equatable {
        /// How many records.
        case count
        /// The exact sum of a field, written with at least that many decimals. What is no number adds nothing.
        case sum(field: String, decimals: Int)
        /// How many different values of a field; with `seen` only those of which that is true.
        case distinct(field: String, seen: Seen?)
    }

    /// Whether a value was there before the period, in a record of whatever user that fits the same conditions.
    package enum Seen: String, Sendable, Equatable, CaseIterable {
        case first, again
    }

    /// Names in an answer that no figure can have.
    package static let reservedNames: Set<String> = ["from", "period", "scope", "time_zone", "until", "user"]
}

/// The stretches of time that a dashboard can be asked for, in the days of a time zone; weeks begin on Monday.
package enum DashboardPeriod: String, Sendable, CaseIterable {
    case today, yesterday
    case thisWeek = "this_week"
    case thisMonth = "this_month"
    case lastMonth = "last_month"

    /// What the stretch of the same kind just before is called.
    package var previous: String {
        switch self {
        case .today: "yesterday"
        case .yesterday: "day_before_yesterday"
        case .thisWeek: "last_week"
        case .thisMonth: "last_month"
        case .lastMonth: "month_before_last"
        }
    }

    /// Whether it is under way, so that the one before is also compared up to the same point.
    package var isUnderWay: Bool { self != .yesterday && self != .lastMonth }
}
