/// When to remind of a record: `before` a time in one of its fields, while its conditions hold.
package struct ReminderRule: Sendable, Equatable {
    package var name: String
    package var entity: String
    /// The field with the time, which may be a date alone.
    package var at: String
    package var before: Duration
    /// Filled from the record; the record's title is used when a placeholder stays empty.
    package var text: Template
    /// All must hold, or there is no reminder.
    package var conditions: [Condition]
    /// Nil when reminders are not stored as records.
    package var into: Into?

    /// The local-only entity with a record for each reminder.
    package struct Into: Sendable, Equatable {
        package var entity: String
        /// The entity's field → the part of the reminder that it holds.
        package var fields: [String: Part]
    }

    /// The parts of a reminder.
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
