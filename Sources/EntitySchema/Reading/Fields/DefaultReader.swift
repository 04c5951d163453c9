internal import JSONText

/// Reads `default` of a field: a value, or `{ value: …, send: true }`.
struct DefaultReader {
    let node: SchemaNode
    let field: Field

    func initial() throws(SchemaError) -> FieldDefault {
        guard node.isMapping else { return FieldDefault(value: try value(node)) }
        try node.requireKeys(["value", "send"])
        return FieldDefault(
            value: try value(node.required("value")), isSent: try node.flag("send"))
    }

    private func value(_ node: SchemaNode) throws(SchemaError) -> FieldDefault.Value {
        switch field.kind {
        case .string: return try text(node)
        case .time: return try time(node)
        case .date: return .value(.string(try node.day()))
        case .boolean: return .value(.boolean(try node.boolean()))
        case .integer: return .value(.integer(try node.integer(in: Int.min...Int.max)))
        case .number, .money: return .value(try number(node))
        case .list: return .value(.array(of: try node.strings()))
        case .enum:
            let word = try node.string()
            try node.check([word], for: field)
            return .value(.string(word))
        case .object, .reference:
            throw node.error("a field of type \(field.kind == .object ? "object" : "reference") has no default")
        }
    }

    private func text(_ node: SchemaNode) throws(SchemaError) -> FieldDefault.Value {
        let pattern = try node.pattern()
        return pattern.names.isEmpty ? .value(.string(try node.string())) : .text(pattern)
    }

    private func time(_ node: SchemaNode) throws(SchemaError) -> FieldDefault.Value {
        let word = try node.string()
        if word == "now" { return .now }
        guard Timestamp(iso8601: word) != nil else { throw node.error("expected now or a time in ISO 8601") }
        return .value(.string(word))
    }

    private func number(_ node: SchemaNode) throws(SchemaError) -> JSONText {
        guard let number = try? JSONText(parsing: node.string()), number.kind == .number else {
            throw node.error("expected a number")
        }
        return number
    }
}

extension SchemaNode {
    func day() throws(SchemaError) -> String {
        let text = try string()
        guard Timestamp.isDay(text) else { throw error("expected a day, such as 2026-11-25") }
        return text
    }
}
