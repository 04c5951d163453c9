/// When to remind somebody of a record: so long before a time that stands in it, unless it is done with.
package struct ReminderRule: Sendable, Equatable {
    package var name: String
    package var entity: String
    /// The field with the time, which may be a date alone.
    package var at: String
    package var before: Duration
    /// Filled from the record; the record's title where a hole stays empty.
    package var text: Template
    /// All must hold, or there is nothing to be reminded of.
    package var conditions: [Condition]
    /// Nil where reminders are kept as no records.
    package var into: Into?

    /// The local-only entity that has a record for each reminder.
    package struct Into: Sendable, Equatable {
        package var entity: String
        /// The entity's field → what of the reminder it holds.
        package var fields: [String: Part]
    }

    /// What there is to tell of a reminder.
    package enum Part: String, Sendable, Equatable, CaseIterable {
        case record = "record_id"
        case rule, text, state
        case dueAt = "due_at"
        case isScheduled = "is_scheduled"
        case isDelivered = "is_delivered"

        /// Whether a field of this type can hold it.
        func fits(_ kind: Field.Kind, of entity: String) -> Bool {
            switch (self, kind) {
            case (.isScheduled, .boolean), (.isDelivered, .boolean), (.dueAt, .time): true
            case (.record, .reference(let target)): target == entity
            case (.record, .string), (.rule, .string), (.text, .string), (.state, .string): true
            default: false
            }
        }
    }
}
