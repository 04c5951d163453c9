internal import JSONText

/// Reads a test of a record's own fields: a mapping whose conditions must all hold, or a list of such mappings, one of
/// which must hold.
struct RecordTestReader {
    let entity: Entity
    /// What values may name in braces; times can then be compared by size as well. Nil allows only plain values.
    var templates: TemplateNames?

    func test(_ node: SchemaNode) throws(SchemaError) -> RecordTest {
        var alternatives: [[RecordTest.Condition]] = []
        for mapping in try node.oneOrMore() {
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
            let near = Suggestion.nearest(to: word, among: known).map { "; did you mean .\($0)?" } ?? ""
            throw node.error("expected a field, or a field with .\(known.joined(separator: ", ."))\(near)")
        }
        let field = try ConditionReader(entity: entity).field(names[0], node)
        let nodes = try node.oneOrMore()
        guard !nodes.isEmpty else { throw node.error("expected a value or a list of them") }
        let isBySize = ![.isOneOf, .isNoneOf].contains(comparison)
        if isBySize {
            let size = try size(node, field)
            return RecordTest.Condition(field: field.name, comparison: comparison, values: [size])
        }
        var values: [String?] = []
        for value in nodes { values.append(try plain(value, field)) }
        if values != [nil] { _ = try ConditionReader(entity: entity).plain(field.name, node) }
        return RecordTest.Condition(field: field.name, comparison: comparison, values: values)
    }

    /// A value to compare by; nil for `null`.
    private func plain(_ node: SchemaNode, _ field: Field) throws(SchemaError) -> String? {
        let text = try node.string()
        guard text != "null" else { return nil }
        if field.kind == .boolean, !["true", "false", "1", "0"].contains(text) {
            throw node.error("\(field.name) is true or false; expected one of them, or null")
        }
        guard let templates else {
            try node.check([text], for: field)
            return text
        }
        if text == Condition.account { throw node.error("write it in braces: \"{\(text)}\"") }
        guard text.contains("{") else {
            try node.check([text], for: field)
            return text
        }
        let template = try node.valueTemplate(templates)
        for placeholder in template.placeholders {
            if case .now = placeholder.name {
                throw node.error("times are compared by size only: write \(field.name).gte or \(field.name).lt")
            }
        }
        if field.enumValues != nil { throw node.error("\(text) is not a value of \(field.name), which is an enum") }
        return text
    }

    /// One number, or one time.
    private func size(_ node: SchemaNode, _ field: Field) throws(SchemaError) -> String {
        let isNumber = [.integer, .number, .money].contains(field.kind)
        guard isNumber || templates != nil && (field.kind == .time || field.kind == .date) else {
            let kinds = templates == nil ? "numbers" : "numbers, times or days"
            throw node.error("\(field.name) cannot be compared by size; expected a field with \(kinds)")
        }
        guard !node.isSequence else { throw node.error(isNumber ? "expected a number" : "expected one time") }
        let text = try node.string()
        if field.kind == .date {
            if let spelling = field.dayFormat?.word, field.dayFormat?.dayPattern != nil {
                throw node.error(
                    "\(field.name) is written as \(spelling), so it cannot be compared here; remove the condition")
            }
            return try day(node, text)
        }
        if let templates, text.contains("{") {
            guard Self.isNow(try node.valueTemplate(templates), asNumber: isNumber) else {
                throw node.error(
                    isNumber
                        ? "\(field.name) holds numbers, so a time needs a format: \"{$now-90d:epoch}\" or "
                            + "\"{$now-90d:epoch_ms}\"" : Self.expectedTime)
            }
            return text
        }
        if isNumber {
            guard JSONText.string(text).amount != nil else { throw node.error("expected a number") }
        } else if Timestamp(iso8601: text) == nil {
            throw node.error(Self.expectedTime)
        }
        return text
    }

    private static let expectedTime = "expected a time, such as \"{$now-90d}\" or 2026-01-31T09:00:00Z"

    /// Whether the template is `{$now…}` alone, in a format of numbers if `isNumber`.
    private static func isNow(_ template: ValueTemplate, asNumber isNumber: Bool) -> Bool {
        guard template.parts.count == 1, let placeholder = template.placeholders.first, case .now = placeholder.name
        else { return false }
        return (placeholder.format?.isNumber ?? false) == isNumber && !placeholder.isQuoted
    }

    /// A fixed day, or the day of a time.
    private func day(_ node: SchemaNode, _ text: String) throws(SchemaError) -> String {
        guard let templates, text.contains("{") else { return try node.day() }
        let template = try node.valueTemplate(templates)
        guard template.parts.count == 1, case .now? = template.placeholders.first?.name,
            template.placeholders[0].format == .date, !template.placeholders[0].isQuoted
        else { throw node.error("expected a day, such as \"{$now-90d:date}\" or 2026-01-31") }
        return text
    }
}
