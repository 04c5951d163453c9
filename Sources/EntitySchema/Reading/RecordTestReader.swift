internal import JSONText

/// Reads a test of a record's own fields: a mapping of which all conditions must hold, or a list of such mappings of
/// which one must.
struct RecordTestReader {
    let entity: Entity

    func test(_ node: SchemaNode) throws(SchemaError) -> RecordTest {
        var alternatives: [[RecordTest.Condition]] = []
        for mapping in node.isSequence ? try node.elements() : [node] {
            var conditions: [RecordTest.Condition] = []
            for (name, value) in try mapping.members() { conditions.append(try condition(name, value)) }
            guard !conditions.isEmpty else { throw mapping.error("expected a condition, such as status: ready") }
            alternatives.append(conditions)
        }
        guard !alternatives.isEmpty else { throw node.error("expected a condition, such as status: ready") }
        return RecordTest(alternatives: alternatives)
    }

    /// `status: ready`, `status.ne: [collected, cancelled]`, `balance: null`, `balance.lte: 0`.
    private func condition(_ key: String, _ node: SchemaNode) throws(SchemaError) -> RecordTest.Condition {
        let names = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let word = names.count == 2 ? names[1] : ""
        guard names.count < 3, let comparison = RecordTest.Comparison(rawValue: word) else {
            let known = RecordTest.Comparison.allCases.map(\.rawValue).filter { !$0.isEmpty }
            throw node.error("expected a field, or a field with .\(known.joined(separator: ", ."))")
        }
        let field = try ConditionReader(entity: entity).field(names[0], node)
        let isBySize = ![.isOneOf, .isNoneOf].contains(comparison)
        let values = node.isSequence ? try node.strings() : [try node.string()]
        if isBySize {
            guard [.integer, .number, .money].contains(field.kind) else {
                throw node.error("\(field.name) cannot be compared by size; expected a field with numbers")
            }
            guard values.count == 1, JSONText.string(values[0]).amount != nil else {
                throw node.error("expected a number")
            }
        } else if values != ["null"] {
            _ = try ConditionReader(entity: entity).plain(field.name, node)
        }
        try node.check(values.filter { $0 != "null" }, for: field)
        return RecordTest.Condition(
            field: field.name, comparison: comparison, values: values.map { $0 == "null" ? nil : $0 })
    }
}
