package import EntitySchema

/// How a record and the schema disagree.
package enum DriftKind: String, Sendable, Equatable {
    /// The record has a member that is not in the schema.
    case unknown
    /// A field that the schema marks as required is absent or null, or no record so far has had the field.
    case missing
    /// A value has another type.
    case type
    /// A value is not in the field's enum.
    case value
    /// The list as a whole is not what the schema says, so that it cannot show which records are gone.
    case list
    /// The upstream accepted a change of the field, and later showed the value from before.
    case ignored

    /// For the hash of a note.
    var number: UInt8 {
        switch self {
        case .unknown: 1
        case .missing: 2
        case .type: 3
        case .value: 4
        case .list: 5
        case .ignored: 6
        }
    }
}

/// One disagreement between the upstream's records and the schema, and how often it occurs.
package struct Drift: Sendable, Equatable {
    /// Stands for all fields or values beyond the number kept separately, and for secret values.
    package static let others = "…"

    package var entity: String
    package var field: String
    package var kind: DriftKind
    /// What the schema says; nil if it does not have the field.
    package var expected: String?
    /// The JSON type found, the value outside the enum, `absent`, or what is wrong in words; `…` for all beyond those kept
    /// separately.
    package var found: String
    /// The number of record versions written with it.
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

/// A record without a usable key, which is not in the cache.
package struct SetAsideRecord: Sendable, Equatable {
    package var entity: String
    /// The beginning of the record's text, without secret fields.
    package var record: String
    package var at: Timestamp

    package init(entity: String, record: String, at: Timestamp) {
        self.entity = entity
        self.record = record
        self.at = at
    }
}
