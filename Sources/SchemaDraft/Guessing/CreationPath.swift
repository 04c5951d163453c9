/// The path of a creation below a record of another list, with the field that names that record.
struct CreationPath {
    /// With the field in braces.
    let text: String
    /// The field, which a new record must have.
    let field: String

    /// Nil unless exactly one field may name the record.
    init?(of call: APIOperation, key: String, fields: [DraftField], parent: Collection, shapes: ShapeReader) {
        guard call.path.parameters.count == 1, let name = call.path.parameters.first else { return nil }
        let parameter = PathParameter(
            name: name, said: PathParameter.said(name, in: call.parameters), list: parent.path,
            item: parent.answer.item, shapes: shapes)
        guard parameter.member(key: parent.key.value) == parent.key.value,
            let field = Self.reference(to: parent, name, key, fields)
        else { return nil }
        text = call.path.filled { _ in "{\(field)}" }
        self.field = field
    }

    /// Of several references, the one that is called like the record or like the name in the path.
    private static func reference(
        to parent: Collection, _ parameter: String, _ key: String, _ fields: [DraftField]
    ) -> String? {
        let all = fields.filter { field in
            if case .reference(to: parent.name, _) = field.kind { field.name != key } else { false }
        }
        let stem = Words.folded(Words.singular(parent.base.last ?? ""))
        let usual = [Words.folded(parameter), stem, stem + "id", stem + Words.folded(parent.key.value)]
        let named = all.filter { usual.contains(Words.folded($0.name)) }
        let best = named.isEmpty ? all : named
        return best.count == 1 ? best[0].name : nil
    }
}
