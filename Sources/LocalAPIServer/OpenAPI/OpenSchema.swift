internal import JSONText

/// Schemas of answers, which are open: a client must accept values that the schema of its time did not know.
extension JSONText {
    /// The same schema with every `enum` as an open one: its types, and the values known today in `x-extensible-enum`.
    var opened: JSONText {
        switch kind {
        case .object:
            guard let values = self["enum"], values.kind == .array else {
                return .object(members: members.map { (key: $0.key, value: $0.value.opened) })
            }
            let others = members.filter { $0.key != "enum" }
            let open = Self.openEnum(values.elements).members.filter { self[$0.key] == nil }
            return .object(members: open + others)
        case .array: return .array(elements.map(\.opened))
        default: return self
        }
    }

    /// A value of these types, which is one of `values` as far as is known.
    static func openEnum(_ values: [JSONText]) -> JSONText {
        var types: [JSONText] = []
        for value in values {
            let type: JSONText =
                switch value.kind {
                case .null: "null"
                case .number: "integer"
                default: "string"
                }
            if !types.contains(type) { types.append(type) }
        }
        return .object([
            "type": types.count == 1 ? types[0] : .array(types),
            "x-extensible-enum": .array(values.filter { $0.kind != .null }),
        ])
    }

    /// What fits this schema as far as the upstream does what its schema says; else anything.
    var expected: JSONText { .object(["anyOf": .array([self, .object([:])])]) }
}
