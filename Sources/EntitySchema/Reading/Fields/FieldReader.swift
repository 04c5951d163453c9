internal import JSONText

/// Reads one field of an entity, except for `derive`, which `DerivationReader` reads.
struct FieldReader {
    let node: SchemaNode
    let name: String

    private static let simpleKinds: [String: Field.Kind] = [
        "string": .string, "integer": .integer, "number": .number, "money": .money, "boolean": .boolean, "time": .time,
        "date": .date, "object": .object, "list": .list,
    ]

    func field() throws(SchemaError) -> Field {
        try node.requireKeys([
            "type", "values", "to", "as", "from", "index", "search", "required", "secret", "derive", "follow", "merge",
            "default", "touch", "sealed", "steps", "waits_for", "wire", "natural", "write_only",
        ])
        var field = Field(
            name: name, kind: try kind(), indexed: try node.flag("index"), secret: try node.flag("secret"),
            sealed: try node.flag("sealed"))
        if let node = node.child("required") { try readRequired(node, of: &field) }
        if let node = node.child("from") { try readPlace(node, of: &field) }
        if let node = node.child("search") { field.search = try search(node, field.kind) }
        if let node = node.child("follow") { field.follow = try FollowReader(node: node, field: field).following() }
        if let node = node.child("merge") { field.mergesAsSet = try isSet(node, field.kind) }
        if let node = node.child("default") { field.initial = try DefaultReader(node: node, field: field).initial() }
        if let node = node.child("touch") { field.isTouched = try isTouched(node, field.kind) }
        if let node = node.child("waits_for") { field.waitsFor = try other(node) }
        if let node = node.child("wire") { try readWire(node, of: &field) }
        if try node.flag("natural") { try makeNatural(&field) }
        field.hasSteps = try node.flag("steps")
        field.isWriteOnly = try node.flag("write_only")
        try checkSealing(field)
        return field
    }

    private func kind() throws(SchemaError) -> Field.Kind {
        let type = try node.required("type")
        let word = try type.string()
        switch word {
        case "enum":
            let values = try node.required("values")
            var known: [Field.EnumValue] = []
            for (value, label) in try values.members() { known.append(try enumValue(value, label)) }
            guard !known.isEmpty else { throw values.error("expected at least one value, such as { open: Open }") }
            return .enum(known)
        case "reference": return .reference(to: try node.required("to").string())
        default:
            guard let kind = Self.simpleKinds[word] else {
                let known = (Self.simpleKinds.keys + ["enum", "reference"]).sorted()
                let near = Suggestion.hint(for: word, among: known, else: ".")
                throw type.error("unknown type \(word)\(near) Expected one of \(known.joined(separator: ", "))")
            }
            return kind
        }
    }

    /// `true`, or `filled`, which also refuses an empty text.
    private func readRequired(_ node: SchemaNode, of field: inout Field) throws(SchemaError) {
        guard node.value.text == "filled" else { return field.required = try node.boolean() }
        guard field.kind == .string else { throw node.error("only a field of type string can be filled; write true") }
        (field.required, field.isNeverEmpty) = (true, true)
    }

    /// `ready: Ready`, or `ready: { label: Ready, icon: checkmark }`.
    private func enumValue(_ value: String, _ node: SchemaNode) throws(SchemaError) -> Field.EnumValue {
        guard node.isMapping else { return Field.EnumValue(value: value, label: try node.string()) }
        try node.requireKeys(["label", "icon"])
        return Field.EnumValue(
            value: value, label: try node.required("label").string(), icon: try node.child("icon")?.string())
    }

    /// `true` is short for words.
    private func search(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Field.Search? {
        let word = try node.string()
        if word == "false" { return nil }
        guard let search = Field.Search(rawValue: word == "true" ? "words" : word) else {
            let hint = Suggestion.hint(for: word, among: Field.Search.allCases.map(\.rawValue))
            throw node.error("search is \(word); expected words (or true), fragments or false\(hint)")
        }
        switch kind {
        case .string, .enum, .integer: return search
        default: throw node.error("only fields of type string, enum or integer can be searched")
        }
    }

    private func isSet(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Bool {
        guard try node.string() == "set" else { throw node.error("expected set") }
        guard kind == .list else { throw node.error("only a field of type list can be merged as a set") }
        return true
    }

    private func isTouched(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Bool {
        guard try node.string() == "now" else { throw node.error("expected now") }
        guard kind == .time else { throw node.error("only a field of type time can move with each edit") }
        return true
    }

    private func other(_ node: SchemaNode) throws(SchemaError) -> Field.Other {
        let path = try node.string()
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for name in names { _ = try node.identifier(name) }
        guard names.count == 2 else { throw node.error("expected an entity and its field, such as clients.email") }
        return Field.Other(entity: names[0], field: names[1])
    }

    /// Such a field is looked up with each request that names it, so it has an index.
    private func makeNatural(_ field: inout Field) throws(SchemaError) {
        let isComputed = node.child("derive") != nil || node.child("follow") != nil
        guard [.string, .integer].contains(field.kind), !field.isStoredSealed, !isComputed else {
            throw try node.required("natural").error(
                "only a field of type string or integer that is not secret, sealed or computed can be natural")
        }
        field.isNatural = true
        field.indexed = true
    }

    private func checkSealing(_ field: Field) throws(SchemaError) {
        if field.secret && field.sealed {
            throw node.error("a secret field is sealed already; remove sealed to hide it, or secret to show it")
        }
        let word = field.sealingWord
        if field.isStoredSealed && field.indexed {
            throw node.error("a \(word) field cannot have an index; remove index or \(word)")
        }
        if field.isStoredSealed && field.search != nil {
            throw node.error("a \(word) field cannot be searched; remove search or \(word)")
        }
    }
}
