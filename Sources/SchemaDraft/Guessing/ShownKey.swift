internal import JSONText

/// What a body names by its key, where a record shows it whole: `milestone: 5` and `tagIds: [5]` beside `milestone: {…}` and
/// `tags: [{…}]`.
struct ShownKey {
    let shapes: ShapeReader

    /// The field that a member of a body sends, under that member's name.
    func field(_ name: String, _ wanted: DataShape, among fields: [DraftField]) -> DraftField? {
        let found = fields.first { field in
            guard field.wireName.isEmpty, let steps = field.from.map(JSONPath.steps), let outer = steps.first else {
                return false
            }
            return wanted.isList
                ? steps.count == 3 && field.kind == .simple("list") && isKeys(name, wanted, of: String(outer))
                : steps.count == 2 && isKey(name, wanted, of: String(outer))
        }
        guard var field = found else { return nil }
        field.wireName = name
        return field
    }

    /// A field for a member of a body that no field can send yet. `records`: the record, as its list and its own call show it.
    func newField(
        _ name: String, _ wanted: DataShape, among fields: [DraftField], records: [DataShape], taken: Set<String>
    ) -> DraftField? {
        guard !wanted.isReadOnly, field(name, wanted, among: fields) == nil,
            !fields.contains(where: { Words.folded($0.wireName) == Words.folded(name) })
        else { return nil }
        for property in records.flatMap(\.properties) {
            let isList = isKeys(name, wanted, of: property.name)
            guard isList || isKey(name, wanted, of: property.name) else { continue }
            let shown = shapes.shape(of: property)
            guard isList ? shown.isList : shown.kind == .object,
                let key = (isList ? shapes.elements(of: shown) : shown)["id"].map(shapes.shape),
                [.string, .integer].contains(key.kind), let outer = PlaceText.joined([property.name]),
                let own = FieldNames.field(for: Words.snake(name), taken: taken)
            else { continue }
            let kind = isList ? "list" : key.isNumber ? "integer" : "string"
            return DraftField(
                own, .simple(kind), from: isList ? "\(outer).*.id" : "\(outer).id", wireName: "",
                reason: "a change sends it as \(name)")
        }
        return nil
    }

    /// `milestone` or `milestoneId`.
    private func isKey(_ name: String, _ wanted: DataShape, of outer: String) -> Bool {
        let (name, outer) = (Words.folded(name), Words.folded(outer))
        return wanted.isTextOrNumber && (name == outer || name == outer + "id")
    }

    /// `tagIds` of `tags`.
    private func isKeys(_ name: String, _ wanted: DataShape, of outer: String) -> Bool {
        guard wanted.isList, Words.folded(name) == Words.folded(Words.singular(outer)) + "ids" else { return false }
        let elements = shapes.elements(of: wanted)
        return elements.isTextOrNumber && elements.kind != .unknown
    }
}
