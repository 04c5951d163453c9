/// How a field that nobody writes is worked out from other fields or records.
package enum Derivation: Sendable, Equatable {
    /// From the record's own fields.
    case text(Template)
    /// From the records of a `many` relation.
    case children(ChildFigure)
}

/// One value over the records that refer to a record by one of its `many` relations.
package struct ChildFigure: Sendable, Equatable {
    package enum Measure: Sendable, Equatable {
        case count
        /// The exact sum of a field; what is no number adds nothing.
        case sum(field: String)
        /// A field of the record whose time `by` is the latest.
        case latest(field: String, by: String)
    }

    package var relation: String
    package var measure: Measure
    /// All must hold for a record to count.
    package var conditions: [Condition]
}

/// What a field shows of the way of its record's creation to the upstream and beyond.
package struct QueueFollowing: Sendable, Equatable {
    /// While the creation is queued, being sent or tried again.
    package var queued: String
    /// Once it is given up, until somebody has it tried again.
    package var failed: String
    /// From the acknowledgement on, and then what the server alone says, each further than the one before.
    package var order: [String]

    /// The furthest of what readers saw and what the server says; anything that is not in the order is at its beginning.
    package func furthest(_ values: [String?]) -> String {
        let places = values.map { value in value.flatMap(order.firstIndex) ?? 0 }
        return order[places.max() ?? 0]
    }
}
