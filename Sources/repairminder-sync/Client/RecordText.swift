import JSONText
import Yams

/// A record's changeable fields as YAML that a person edits.
struct RecordText {
    let shape: EntityShape

    /// One line for each field, with the values of an enum above it. `edits` take the place of the record's values.
    func text(of record: JSONText, edits: [(key: String, value: JSONText)] = []) -> String {
        var lines = [
            "# Change values, save and close. Only what differs is sent; an empty file sends nothing.",
            "# \(shape.key): \(TerminalText.line(record[shape.key]?.plain ?? ""))",
        ]
        for name in shape.updatable {
            let field = shape.field(name)
            if field?["secret"]?.boolean == true {
                lines.append("# \(name): secret; write a line for it to change it")
                continue
            }
            let values = field?["values"]?.elements.compactMap { $0["value"]?.plain } ?? []
            if !values.isEmpty { lines.append("# one of \(values.joined(separator: ", "))") }
            let value = edits.first { $0.key == name }?.value ?? record[name] ?? .null
            lines += Self.lines(name, value)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The fields whose values differ from the record's. Throws `RecordTextError` for what the record cannot be.
    func changes(in text: String, from record: JSONText) throws(RecordTextError) -> [(key: String, value: JSONText)] {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text, .basic)
        } catch {
            throw RecordTextError(messages: ["not YAML: \(Self.reason(error))"])
        }
        guard let node, node.null == nil || node.mapping != nil else { return [] }
        guard let mapping = node.mapping else {
            throw RecordTextError(messages: ["expected lines of the form field: value"])
        }
        var changes: [(key: String, value: JSONText)] = []
        var mistakes: [String] = []
        for (nameNode, valueNode) in mapping {
            let name = nameNode.string ?? ""
            guard shape.updatable.contains(name) else {
                mistakes.append(unknown(name))
                continue
            }
            let value = Self.json(valueNode, type: shape.field(name)?["type"]?.string)
            if !value.isEquivalent(to: record[name] ?? .null) { changes.append((name, value)) }
        }
        guard mistakes.isEmpty else { throw RecordTextError(messages: mistakes) }
        return changes
    }

    private func unknown(_ name: String) -> String {
        if shape.field(name) != nil { return "\(name) cannot be changed" }
        return
            "there is no field \(name); the fields that can be changed are \(shape.updatable.joined(separator: ", "))"
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "line \(mark.line): \(problem)"
        case .duplicatedKeysInMapping(let keys, _): "\(keys.joined(separator: ", ")) is there twice"
        default: "\(error)"
        }
    }

    // MARK: Writing

    private static func lines(_ name: String, _ value: JSONText) -> [String] {
        guard let text = value.string else { return ["\(name): \(value.text)"] }
        let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isBlock =
            paragraphs.count > 1 && paragraphs.first?.first?.isWhitespace == false && paragraphs.last?.isEmpty == false
            && !text.unicodeScalars.contains { $0 != "\n" && TerminalText.isUnsafe($0) }
        if isBlock { return ["\(name): |-"] + paragraphs.map { $0.isEmpty ? "" : "  \($0)" } }
        return ["\(name): \(isPlain(text) ? text : value.text)"]
    }

    /// Whether YAML reads the text without quotes as this text. Every JSON string is YAML too.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else { return false }
        let isWord = first.properties.isAlphabetic && last != " " && last != ":"
        let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        return isWord && !words.contains(text.lowercased()) && !text.contains(": ") && !text.contains(" #")
            && !text.unicodeScalars.contains { TerminalText.isUnsafe($0) }
    }

    // MARK: Reading

    private static let textTypes: Set<String> = ["string", "enum", "time", "date", "reference"]

    /// `type`: that of the field; nil inside objects and lists.
    private static func json(_ node: Node, type: String?) -> JSONText {
        switch node {
        case .mapping(let mapping):
            return .object(members: mapping.map { (key: $0.key.string ?? "", value: json($0.value, type: nil)) })
        case .sequence(let sequence): return .array(sequence.map { json($0, type: nil) })
        case .alias: return .null
        case .scalar(let scalar):
            let text = scalar.string
            guard scalar.style == .plain else { return .string(text) }
            if ["", "~", "null", "Null", "NULL"].contains(text) { return .null }
            if textTypes.contains(type ?? "") { return .string(text) }
            guard let value = try? JSONText(parsing: text), [.number, .boolean].contains(value.kind) else {
                return .string(text)
            }
            return value
        }
    }
}

/// What is wrong with an edited record, a line for each mistake.
struct RecordTextError: Error {
    var messages: [String]
}
