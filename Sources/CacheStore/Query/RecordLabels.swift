internal import EntitySchema
internal import JSONText

/// The labels that the schema gives to the values of an entity's enum fields, as `_labels` shows them.
struct RecordLabels: Sendable {
    /// Labels by value, in the schema's order of fields; secret fields have none.
    private let fields: [(field: Field, labels: [String: String])]

    init(_ entity: Entity) {
        fields = entity.fields.compactMap { field in
            guard case .enum(let values) = field.kind, !field.secret else { return nil }
            return (field, Dictionary(values.map { ($0.value, $0.label) }) { first, _ in first })
        }
    }

    /// `{"status":"Ready"}`: one member for each value that the schema knows.
    func object(for record: JSONText) -> JSONText {
        let labels = fields.compactMap { field, labels -> (key: String, value: JSONText)? in
            guard let label = field.value(in: record)?.string.flatMap({ labels[$0] }) else { return nil }
            return (field.name, .string(label))
        }
        return .object(members: labels)
    }
}
