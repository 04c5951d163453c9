internal import JSONText

/// Reads the body of a batch, or one element of it.
struct BatchTemplateReader {
    /// What its texts may name.
    let names: TemplateNames
    let slots: Set<BatchTemplate.Slot>

    func template(_ node: SchemaNode) throws(SchemaError) -> BatchTemplate {
        switch node.value.content {
        case .scalar(let text, let isPlain): return try scalar(text, isPlain, node)
        case .sequence:
            var elements: [BatchTemplate] = []
            for element in try node.elements() { elements.append(try template(element)) }
            return .list(elements)
        case .mapping:
            var members: [BatchTemplate.Member] = []
            for (name, value) in try node.members() {
                let member = BatchTemplate.Member(name: name, value: try template(value))
                if member.isSpread, case .slot = member.value {
                } else if member.isSpread {
                    throw value.error("only $body or $fields can stand after \(BatchTemplate.spread)")
                }
                members.append(member)
            }
            return .object(members)
        }
    }

    private func scalar(_ text: String, _ isPlain: Bool, _ node: SchemaNode) throws(SchemaError) -> BatchTemplate {
        if text.hasPrefix("$") {
            let known = slots.map(\.rawValue).sorted()
            guard let slot = BatchTemplate.Slot(rawValue: text), slots.contains(slot) else {
                let hint = Suggestion.hint(for: text, among: known)
                throw node.error("\(text) cannot stand here\(hint); expected \(known.joined(separator: " or "))")
            }
            return .slot(slot)
        }
        // Numbers, true, false and null, if they stand without quotes.
        if isPlain, let json = try? JSONText(parsing: text), json.kind != .string { return .constant(json) }
        guard text.contains("{") || text.contains("}") else { return .constant(.string(text)) }
        return .text(try node.valueTemplate(names))
    }
}
