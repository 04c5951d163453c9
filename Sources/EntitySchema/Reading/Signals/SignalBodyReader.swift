internal import JSONText

/// Reads the body of a call that asks for events: JSON in which `{$event.clientId}` stands for a value of the event.
struct SignalBodyReader {
    let node: SchemaNode

    func body() throws(SchemaError) -> SignalBody {
        guard node.isMapping else { throw node.error("expected a mapping (key: value), which is sent as JSON") }
        return try body(node)
    }

    private func body(_ node: SchemaNode) throws(SchemaError) -> SignalBody {
        switch node.value.content {
        case .scalar(let text, let isPlain):
            // Numbers, true, false and null, if they stand without quotes.
            if isPlain, let json = try? JSONText(parsing: text), json.kind != .string { return .constant(json) }
            guard text.contains("{") else { return .constant(.string(text)) }
            return .text(try node.valueTemplate(TemplateNames(groups: ["event"])))
        case .sequence:
            var elements: [SignalBody] = []
            for element in try node.elements() { elements.append(try body(element)) }
            return .list(elements)
        case .mapping:
            var members: [SignalBody.Member] = []
            for (name, value) in try node.members() {
                members.append(SignalBody.Member(name: name, value: try body(value)))
            }
            return .object(members)
        }
    }
}
