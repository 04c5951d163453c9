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
            if wanted.isList {
                return steps.count == 3 && field.kind == .simple("list") && isKeys(name, wanted, of: String(outer))
            }
            // As JSON:API shows it: `relationships.order.data.id`.
            let isRelated = steps.count == 4 && outer == "relationships" && steps[2...] == ["data", "id"]
            return (isRelated || steps.count == 2) && isKey(name, wanted, of: String(isRelated ? steps[1] : outer))
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
            !fields.contains(where: { Words.folded($0.wireName) == Words.folded(name) && !isWhole($0, wanted) })
        else { return nil }
        for property in records.flatMap(\.properties) {
            let isList = isKeys(name, wanted, of: property.name)
            guard isList || isKey(name, wanted, of: property.name) else { continue }
            let shown = shapes.shape(of: property)
            guard isList ? shown.isList : shown.kind == .object,
                let key = (isList ? shapes.elements(of: shown) : shown)["id"].map(shapes.shape),
                [.string, .integer].contains(key.kind), let outer = PlaceText.joined([property.name]),
                isOfKind(key, wanted) || Words.folded(name) != Words.folded(property.name),
                let own = FieldNames.field(for: ownName(name, isList, of: property.name), taken: taken)
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

    /// `tagIds` of `tags`, or `tags` themselves.
    private func isKeys(_ name: String, _ wanted: DataShape, of outer: String) -> Bool {
        guard wanted.isList else { return false }
        let elements = shapes.elements(of: wanted)
        if Words.folded(name) == Words.folded(outer) { return isSurelyKey(elements) }
        return Words.folded(name) == Words.folded(Words.singular(outer)) + "ids"
            && elements.isTextOrNumber && elements.kind != .unknown
    }

    // MARK: The same name for both

    /// Whether a field shows whole what the body names by keys: `tags: [{…}]` where it takes `tags: [5]`.
    private func isWhole(_ field: DraftField, _ wanted: DataShape) -> Bool {
        wanted.isList ? field.hasObjects : field.kind == .simple("object")
    }

    /// Whether a body takes keys like this one.
    private func isOfKind(_ key: DataShape, _ wanted: DataShape) -> Bool {
        let sent = wanted.isList ? shapes.elements(of: wanted) : wanted
        return sent.kind == key.kind && isSurelyKey(sent) && (sent.kind == .integer || key.format == "uuid")
    }

    /// Other texts could as well be names.
    private func isSurelyKey(_ shape: DataShape) -> Bool { shape.kind == .integer || shape.format == "uuid" }

    /// `tag_ids` where both are called `tags`.
    private func ownName(_ name: String, _ isList: Bool, of outer: String) -> String {
        guard Words.folded(name) == Words.folded(outer) else { return Words.snake(name) }
        return isList ? "\(Words.singular(Words.snake(name)))_ids" : "\(Words.snake(name))_id"
    }
}
