import EntitySchema
import JSONText
import Yams

/// A record's changeable fields as YAML that a person edits.
struct RecordText {
    let shape: EntityShape

    /// One line for each field, with the values of an enum above it. `edits` take the place of the record's values.
    func text(of record: JSONText, edits: [(key: String, value: JSONText)] = []) -> String {
        var lines = [
            "# Change values, save and close. Only what differs is sent; an empty file sends nothing.",
            "# \(Self.name(shape.key)): \(Self.comment(record.shown(shape.key)))",
        ]
        for name in shape.updatable {
            if shape.field(name)?["secret"]?.boolean == true {
                lines.append("# \(Self.name(name)): secret; write a line for it to change it")
                continue
            }
            let values = shape.values(of: name)
            if !values.isEmpty { lines.append("# one of \(Self.comment(values.joined(separator: ", ")))") }
            let value = edits.first { $0.key == name }?.value ?? record[name] ?? .null
            lines += Self.lines(name, value)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The fields that a person has changed in the text of the record. Throws `RecordTextError` for what the record cannot
    /// be.
    ///
    /// They are compared with what the text of the record reads as, so that an unchanged field is never sent,
    /// even if YAML cannot hold its value.
    func changes(in text: String, from record: JSONText) throws(RecordTextError) -> [(key: String, value: JSONText)] {
        let shown = try values(in: self.text(of: record))
        return try values(in: text).filter { name, value in
            !value.isEquivalent(to: shown.first { $0.key == name }?.value ?? .null)
        }
    }

    private func values(in text: String) throws(RecordTextError) -> [(key: String, value: JSONText)] {
        let node: Node?
        do {
            node = try YAMLDocument.root(of: text)
        } catch {
            throw RecordTextError(messages: ["not YAML: \(error)"])
        }
        guard let node, node.null == nil || node.mapping != nil else { return [] }
        guard let mapping = node.mapping else {
            throw RecordTextError(messages: ["expected lines of the form field: value"])
        }
        var values: [(key: String, value: JSONText)] = []
        var mistakes: [String] = []
        for (nameNode, valueNode) in mapping {
            let name = nameNode.string ?? ""
            guard shape.updatable.contains(name) else {
                mistakes.append(unknown(name))
                continue
            }
            values.append((name, Self.json(valueNode, type: shape.field(name)?["type"]?.string)))
        }
        guard mistakes.isEmpty else { throw RecordTextError(messages: mistakes) }
        return values
    }

    private func unknown(_ name: String) -> String {
        if shape.field(name) != nil { return "\(name) cannot be changed" }
        return
            "there is no field \(name); the fields that can be changed are \(shape.updatable.joined(separator: ", "))"
    }

    // MARK: Writing

    private static func lines(_ name: String, _ value: JSONText) -> [String] {
        let name = Self.name(name)
        guard let text = value.string else { return ["\(name): \(flow(value))"] }
        let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isBlock =
            paragraphs.count > 1 && paragraphs.first?.first?.isWhitespace == false && paragraphs.last?.isEmpty == false
            && !text.unicodeScalars.contains { $0 != "\n" && isUnsafe($0) } && !commandsEditor(text)
        if isBlock { return ["\(name): |-"] + paragraphs.map { $0.isEmpty ? "" : "  \($0)" } }
        return ["\(name): \(isPlain(text) ? text : quoted(text))"]
    }

    /// A field's name, which a compromised daemon chooses like a value.
    private static func name(_ name: String) -> String {
        commandsEditor("\(name):") || YAMLText.scalar(name) != name ? quoted(name) : name
    }

    /// In one line. JSON itself is no YAML 1.1: that has no surrogates, and other line breaks.
    private static func flow(_ value: JSONText) -> String {
        switch value.kind {
        case .object: "{\(value.members.map { "\(quoted($0.key)):\(flow($0.value))" }.joined(separator: ","))}"
        case .array: "[\(value.elements.map(flow).joined(separator: ","))]"
        case .string: quoted(value.string ?? "")
        case .number, .boolean, .null: value.text
        }
    }

    private static func quoted(_ text: String) -> String {
        let yaml = TerminalText.safe(YAMLText.quoted(text))
        guard commandsEditor(text) else { return yaml }
        return yaml.unicodeScalars.map { $0 == ":" ? "\\x3A" : String($0) }.joined()
    }

    private static func comment(_ text: String) -> String {
        let isOdd = text.unicodeScalars.contains(where: YAMLText.isOdd) || commandsEditor(text)
        return TerminalText.line(isOdd ? quoted(text) : text)
    }

    /// Whether an editor could take the text for settings: a modeline of vi or Vim, or local variables of Emacs. Other people
    /// write the records.
    private static func commandsEditor(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return false }
        // By scalars: a combining mark after the colon would hide it.
        let setting = #/(^|[^a-z0-9])(vim?|vim[<=>]?[0-9]+|ex|local variables):/#.ignoresCase()
        return text.firstMatch(of: setting.matchingSemantics(.unicodeScalar)) != nil
    }

    /// Whether an editor or YAML could take the character for something else.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        TerminalText.isUnsafe(scalar) || YAMLText.isOdd(scalar)
    }

    /// Whether YAML reads the text without quotes as this text.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else { return false }
        let isWord = first.properties.isAlphabetic && last != " " && last != ":"
        let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        return isWord && !words.contains(text.lowercased()) && !text.contains(": ") && !text.contains(" #")
            && !text.unicodeScalars.contains(where: isUnsafe) && !commandsEditor(text)
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
