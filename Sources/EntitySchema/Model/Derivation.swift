package import JSONText

/// How a read-only field is computed from other fields or records.
package enum Derivation: Sendable, Equatable {
    /// From the record's own fields: the first text of which a field has a value.
    case text([TextPattern])
    /// Whether the record's own fields meet some conditions.
    case test(RecordTest)
    /// From the records of a `many` relation.
    case children(ChildFigure)

    /// The record's own fields that it is computed from.
    package var ownFields: [String] {
        switch self {
        case .text(let patterns): patterns.flatMap(\.names)
        case .test(let test): test.names
        case .children: []
        }
    }

    /// What it is by the record's own fields alone; null for a text without any of them, nil for figures over children.
    ///
    /// `value` returns the value of one of `ownFields`.
    package func own(_ value: (String) -> JSONText?) -> JSONText? {
        switch self {
        case .text(let patterns):
            for pattern in patterns {
                if let text = pattern.text({ value($0)?.plain }) { return .some(.string(text)) }
            }
            return .some(.null)
        case .test(let test): return .some(.boolean(test.holds(value)))
        case .children: return .none
        }
    }
}

/// One value over the records that refer to a record by one of its `many` relations.
package struct ChildFigure: Sendable, Equatable {
    package enum Measure: Sendable, Equatable {
        case count
        /// The exact sum of a field; a value that is not a number adds nothing.
        case sum(field: String)
        /// A field of the record with the latest time `by`.
        case latest(field: String, by: String)
    }

    package var relation: String
    package var measure: Measure
    /// All must hold for a record to count.
    package var conditions: [Condition]
}

/// The values of a field that follows its record's creation to the upstream and beyond.
package struct QueueFollowing: Sendable, Equatable {
    /// While the creation is queued, being sent or retried.
    package var queued: String
    /// Once it has failed permanently, until it is retried.
    package var failed: String
    /// From the acknowledgement on; the later ones come from the server alone. Each is further than the one before.
    package var order: [String]

    /// The furthest of the values shown and the server's value; a value that is not in the order counts as its
    /// beginning.
    package func furthest(_ values: [String?]) -> String {
        let places = values.map { value in value.flatMap(order.firstIndex) ?? 0 }
        return order[places.max() ?? 0]
    }
}
