package import EntitySchema
internal import GRDB

/// The time of day for reminders of a date without a time.
package struct ReminderDays: Sendable {
    /// Identifies the rule: when it changes, the reminders are computed again.
    package let name: String
    private let time: @Sendable (_ date: String) -> Timestamp?

    /// `time` gets a date (`2026-03-01`); it returns nil for a date that does not exist.
    package init(name: String, time: @escaping @Sendable (_ date: String) -> Timestamp?) {
        self.name = name
        self.time = time
    }

    /// Nine o'clock UTC.
    package static let utc = ReminderDays(name: "UTC 9") { date in
        Timestamp(iso8601: date).map { $0 + .seconds(9 * 3600) }
    }

    /// The moment that a record's time means: the time itself, or the time of day on that date; nil if it is neither.
    func moment(_ text: String) -> Timestamp? { text.utf8.count == 10 ? time(text) : Timestamp(iso8601: text) }

    /// The SQL function `reminder_time(text)`, in milliseconds since 1970.
    var function: DatabaseFunction {
        DatabaseFunction("reminder_time", argumentCount: 1, pure: true) { values in
            values.first.flatMap { String.fromDatabaseValue($0) }.flatMap(moment)?.milliseconds
        }
    }
}
