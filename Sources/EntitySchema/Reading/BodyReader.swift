internal import JSONText

/// Reads `body` of a push route: other names for fields, or a form around them.
struct BodyReader {
    let node: SchemaNode

    /// What stands for the fields that are sent.
    private static let fields = "$fields"

    /// Whether it is a form, with `$fields` or something nested, and no list of names.
    var isTemplate: Bool {
        (node.value.members ?? []).contains { $0.value.text == nil || $0.value.text == Self.fields }
    }

    /// Wire name → field.
    func names() throws(SchemaError) -> [String: String] {
        var pairs: [String: String] = [:]
        for (name, value) in try node.members() { pairs[name] = try value.string() }
        return pairs
    }

    func template() throws(SchemaError) -> BodyTemplate {
        let template = try template(node)
        guard template.fieldsCount == 1 else {
            throw node.error("expected \(Self.fields) once, in the place of the fields that are sent")
        }
        return template
    }

    private func template(_ node: SchemaNode) throws(SchemaError) -> BodyTemplate {
        switch node.value.content {
        case .scalar(let text, let isPlain): return try scalar(text, isPlain, node)
        case .sequence:
            var elements: [BodyTemplate] = []
            for element in try node.elements() { elements.append(try template(element)) }
            return .list(elements)
        case .mapping:
            var members: [BodyTemplate.Member] = []
            for (name, value) in try node.members() {
                members.append(BodyTemplate.Member(name: name, value: try template(value)))
            }
            return .object(members)
        }
    }

    private func scalar(_ text: String, _ isPlain: Bool, _ node: SchemaNode) throws(SchemaError) -> BodyTemplate {
        if text == Self.fields { return .fields }
        // Numbers, true, false and null, if they stand without quotes.
        if isPlain, let json = try? JSONText(parsing: text), json.kind != .string { return .constant(json) }
        guard text.contains("{") || text.hasPrefix("$") else { return .constant(.string(text)) }
        guard case .placeholder(let name)? = Template(text)?.parts.first, text == "{\(name)}" else {
            throw node.error("expected \(Self.fields), one {field} alone, or plain text")
        }
        return .value(name)
    }
}
