package import EntitySchema

/// In what way a record and the schema disagree.
package enum DriftKind: String, Sendable, Equatable {
    /// The record has a member that the schema does not name.
    case unknown
    /// A field that the schema marks as required is absent or null; or no record at all has had the field so far.
    case missing
    /// A value of another type.
    case type
    /// A value outside the field's enum.
    case value

    package var number: UInt8 {
        switch self {
        case .unknown: 1
        case .missing: 2
        case .type: 3
        case .value: 4
        }
    }
}

/// One way in which the upstream's records and the schema disagree, and how often they do.
package struct Drift: Sendable, Equatable {
    /// Stands for all fields or values beyond the number kept apart, and for secret values.
    package static let others = "…"

    package var entity: String
    package var field: String
    package var kind: DriftKind
    /// What the schema says; nil where it does not name the field.
    package var expected: String?
    /// The JSON type of what came, the value outside an enum, or `absent`. `…` stands for all beyond those kept apart.
    package var found: String
    /// Versions of records that were written.
    package var count: Int
    /// The key of the latest record.
    package var example: String
    package var firstSeen: Timestamp
    package var lastSeen: Timestamp

    package init(
        entity: String, field: String, kind: DriftKind, expected: String?, found: String, count: Int, example: String,
        firstSeen: Timestamp, lastSeen: Timestamp
    ) {
        self.entity = entity
        self.field = field
        self.kind = kind
        self.expected = expected
        self.found = found
        self.count = count
        self.example = example
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}

/// A record that came without a usable key and is not in the cache.
package struct SetAsideRecord: Sendable, Equatable {
    package var entity: String
    /// The beginning of its text, without secret fields.
    package var record: String
    package var at: Timestamp

    package init(entity: String, record: String, at: Timestamp) {
        self.entity = entity
        self.record = record
        self.at = at
    }
}
