internal import EntitySchema
internal import JSONText

/// The labels that the schema gives to the values of an entity's enum fields, as `_labels` shows them.
struct RecordLabels: Sendable {
    /// Labels by value, in the schema's order of fields; secret fields have none.
    private let fields: [(field: Field, labels: [String: String])]

    /// In bytes. Looking for a longer text can take long (`MarkRun`), and no value is one.
    private static let longestValue = 1000

    init(_ entity: Entity) {
        fields = entity.fields.compactMap { field in
            guard case .enum(let values) = field.kind, !field.secret else { return nil }
            return (field, Dictionary(values.map { ($0.value, $0.label) }) { first, _ in first })
        }
    }

    /// `{"status":"Ready"}`: one member for each value that the schema knows.
    func object(for record: JSONText) -> JSONText {
        let labels = fields.compactMap { field, labels -> (key: String, value: JSONText)? in
            guard let value = field.value(in: record)?.string, value.utf8.count <= Self.longestValue,
                let label = labels[value]
            else { return nil }
            return (field.name, .string(label))
        }
        return .object(members: labels)
    }
}
