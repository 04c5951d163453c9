package import EntitySchema
internal import GRDB
package import JSONText

/// A reminder in its current state.
package struct Reminder: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Not due yet.
        case scheduled
        /// Due; if it needs a delivery, none has succeeded yet.
        case due
        case delivered
        /// Returns later.
        case snoozed
        case dismissed
    }

    package var id: Int64
    package var rule: String
    package var entity: String
    package var key: String
    package var text: String
    package var dueAt: Timestamp
    package var state: State
    package var snoozedUntil: Timestamp?
    package var deliveredAt: Timestamp?
    /// The number of deliveries tried.
    package var attempts: Int
    /// Why the last delivery failed.
    package var error: String?

    package var document: JSONText {
        .object([
            "id": .integer(Int(id)), "rule": .string(rule), "entity": .string(entity), "record_id": .string(key),
            "text": .string(text), "due_at": .string(dueAt.description), "state": .string(state.rawValue),
            "snoozed_until": .string(snoozedUntil?.description), "delivered_at": .string(deliveredAt?.description),
            "attempts": .integer(attempts), "error": .string(error),
        ])
    }
}

extension Reminder {
    init(_ row: Row, text: String) {
        let state = State(rawValue: row["state"]) ?? .scheduled
        self.init(
            id: row["id"], rule: row["rule"], entity: row["entity"], key: row["record_key"], text: text,
            dueAt: Timestamp(milliseconds: row["due_at"]), state: state,
            snoozedUntil: state == .snoozed ? row.time("next_at") : nil, deliveredAt: row.time("delivered_at"),
            attempts: row["attempt_count"], error: row["error"])
    }
}
