/// The dashboard's figures, as the schema defines them.
package struct DashboardPlan: Sendable, Equatable {
    /// The upstream's path for the same figures; nil when it has none.
    package var path: String?
    /// In the order of the file, which is the order in the response.
    package var figures: [Figure]

    /// One number over the records of an entity whose time is in a period.
    package struct Figure: Sendable, Equatable {
        package var name: String
        package var entity: String
        /// The field with the time that assigns a record to a period.
        package var at: String
        package var measure: Measure
        /// All must hold for a record to count.
        package var conditions: [Condition]
        /// The field with the user that a record belongs to, or with a dot that of a record it refers to; nil when
        /// records belong to no user.
        package var user: String?
        /// Whether the current value of a sum is shown with the number of its records.
        package var isCounted = false

        /// The same records, counted.
        package var count: Figure {
            var figure = self
            figure.name = "\(name) count"
            figure.measure = .count
            return figure
        }
    }

    package enum Measure: Sendable, Equatable {
        /// How many records.
        case count
        /// The exact sum of a field, written with at least that many decimals. A value that is not a number adds
        /// nothing.
        case sum(field: String, decimals: Int)
        /// How many different values of a field; with `seen`, only those that pass it.
        case distinct(field: String, seen: Seen?)
    }

    /// Whether a value occurred before the period, in a record of any user that meets the same conditions.
    package enum Seen: String, Sendable, Equatable, CaseIterable {
        case first, again
    }

    /// Names in the response that no figure can have.
    static let reservedNames: Set<String> = ["from", "period", "scope", "time_zone", "until", "user"]
}

/// The periods of a dashboard, in the days of a time zone; weeks begin on Monday.
package enum DashboardPeriod: String, Sendable, CaseIterable {
    case today, yesterday
    case thisWeek = "this_week"
    case thisMonth = "this_month"
    case lastMonth = "last_month"

    /// The name of the preceding period of the same kind.
    package var previous: String {
        switch self {
        case .today: "yesterday"
        case .yesterday: "day_before_yesterday"
        case .thisWeek: "last_week"
        case .thisMonth: "last_month"
        case .lastMonth: "month_before_last"
        }
    }

    /// Whether it is still running, so the preceding one is also compared up to the same point.
    package var isUnderWay: Bool { self != .yesterday && self != .lastMonth }
}
