internal import EntitySchema
internal import Glibc
internal import JSONText
internal import SQLiteStore

/// Saves what one part of an entity's search index has of a record, before the record changes.
///
/// The index must get back what it was given, byte for byte. Most values are texts and whole numbers that read the same
/// here and in SQL; SQL reads all others from the row.
struct RecordSearchNote: Sendable {
    /// The fields that the part indexes.
    let fields: RecordPlan.Fields
    /// Takes the values from the row.
    private let reading: NumberedSQL
    /// Takes them as parameters; nil when a field is of another kind.
    private let taking: NumberedSQL?
    /// The place of each field among the watched ones, and the kind of value that reads the same here and in SQL.
    private let values: [(place: Int, kind: JSONText.Kind)]
    /// Whether the values are without the separators of numbers (`FragmentMark.bare`).
    private let leavesOutSeparators: Bool

    init(_ part: SearchPart, of search: SearchTable, watched: [String], _ numbers: inout StatementNumbers) {
        let entity = search.entity
        fields = RecordPlan.fields(part.fields, in: watched)
        reading = numbers.next(search.noteReading(part))
        let kinds = part.fields.compactMap { $0 == entity.key ? nil : entity[field: $0]?.plainKind }
        taking = kinds.count == part.fields.count ? numbers.next(search.noteTaking(part)) : nil
        values = zip(part.fields, kinds).map { (watched.firstIndex(of: $0) ?? 0, $1) }
        leavesOutSeparators = part.kind == .fragments
    }

    /// `shown`: the values of the watched fields.
    func save(_ old: RecordImage, _ shown: [JSONText?], _ transaction: RecordTransaction) throws {
        guard let taking, !old.hasEscapes, values.allSatisfy({ isPlain(shown[$0.place], $0.kind) }) else {
            return try transaction.with(reading) { statement in
                try statement.bind(old.pk, to: 1)
                try statement.run()
            }
        }
        try transaction.with(taking) { statement in
            try statement.bind(old.pk, to: 1)
            try statement.bind(old.isDeleted ? 0 : 1 as Int64, to: 2)
            for (index, value) in values.enumerated() {
                try statement.bind(indexed(shown[value.place]), to: Int32(index + 3))
            }
            try statement.run()
        }
    }

    private func isPlain(_ value: JSONText?, _ kind: JSONText.Kind) -> Bool {
        guard let value else { return true }
        // Of a longer one, only the beginning is indexed.
        guard value.bytes.count <= SearchTable.longest else { return false }
        return value.kind == kind && (kind == .string || value.integer != nil)
    }

    private func indexed(_ value: JSONText?) -> ColumnValue {
        guard let value else { return .null }
        guard leavesOutSeparators else { return ColumnValue(value, isTime: false) }
        return .text(Array(FragmentMark.bare(value.plain).utf8)[...])
    }
}

extension Field {
    /// The kind of JSON value that SQL reads as it is.
    fileprivate var plainKind: JSONText.Kind? {
        switch kind {
        case .string, .enum, .reference: .string
        case .integer: .number
        default: nil
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
