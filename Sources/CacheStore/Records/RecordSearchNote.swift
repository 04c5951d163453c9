internal import EntitySchema
internal import Glibc
internal import JSONText
internal import SQLiteStore

/// Saves what one part of an entity's search index has of a record, before the record changes.
///
/// The index must get back what it was given, byte for byte. Most values are texts that read the same here and in SQL;
/// SQL reads all others from the row.
struct RecordSearchNote: Sendable {
    /// The fields that the part indexes.
    let fields: RecordPlan.Fields
    /// Takes the values from the row.
    private let reading: NumberedSQL
    /// Takes them as parameters; nil when some field is no text.
    private let taking: NumberedSQL?
    /// The places of the fields among the watched ones.
    private let places: [Int]
    private let leavesOutSeparators: Bool

    init(_ part: SearchNotes.Part, of entity: Entity, watched: [String], _ numbers: inout StatementNumbers) {
        fields = RecordPlan.fields(part.fields, in: watched)
        reading = numbers.next(part.reading)
        let areTexts = part.fields.allSatisfy { $0 != entity.key && entity[field: $0]?.isText == true }
        taking = areTexts ? numbers.next(part.taking) : nil
        places = part.fields.map { watched.firstIndex(of: $0) ?? 0 }
        leavesOutSeparators = part.leavesOutSeparators
    }

    /// `shown`: the values of the watched fields.
    func save(_ old: RecordImage, _ shown: [JSONText?], _ transaction: RecordTransaction) throws {
        guard let taking, !old.hasEscapes, places.allSatisfy({ shown[$0]?.kind ?? .string == .string }) else {
            return try transaction.with(reading) { statement in
                try statement.bind(old.pk, to: 1)
                try statement.run()
            }
        }
        try transaction.with(taking) { statement in
            try statement.bind(old.pk, to: 1)
            try statement.bind(old.isDeleted ? 0 : 1 as Int64, to: 2)
            for (index, place) in places.enumerated() {
                try statement.bind(indexed(shown[place]), to: Int32(index + 3))
            }
            try statement.run()
        }
    }

    private func indexed(_ value: JSONText?) -> ColumnValue {
        guard let value else { return .null }
        guard leavesOutSeparators else { return ColumnValue(value, isTime: false) }
        return .text(Array(FragmentMark.bare(value.string ?? "").utf8)[...])
    }
}

extension Field {
    /// Whether its value in SQL is the text of its JSON string.
    fileprivate var isText: Bool {
        switch kind {
        case .string, .enum, .reference: true
        default: false
        }
    }
}

extension RecordImage {
    /// Whether a text or a name in it may be written with an escape.
    fileprivate var hasEscapes: Bool {
        [remote, local, whole].contains { text in
            text?.bytes.withUnsafeBytes { bytes in
                bytes.baseAddress.map { memchr($0, 0x5C, bytes.count) != nil } ?? false
            } ?? false
        }
    }
}
