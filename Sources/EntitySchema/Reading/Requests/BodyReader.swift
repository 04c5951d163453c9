internal import JSONText

/// Reads `body` of a push route: other names and places for fields, a form around them, or both.
struct BodyReader {
    let node: SchemaNode
    /// False for a deletion, whose body has only values of the record.
    var sendsFields = true
    /// An update whose route lists its fields, so that the body may leave out `$fields`, as for an action.
    var mayBeAction = false

    /// The body of a route; nil if it has none.
    static func body(of route: SchemaNode, _ operation: Operation) -> BodyReader? {
        route.child("body").map {
            BodyReader(
                node: $0, sendsFields: operation != .delete,
                mayBeAction: operation == .update && route.child("fields") != nil)
        }
    }

    /// What stands for the fields that change, and for the whole record with the changes.
    private static let (fields, record) = ("$fields", "$record")

    /// Whether it is a form, with `$fields`, `$record` or something nested, and no list of names.
    var isTemplate: Bool {
        guard sendsFields, let members = node.value.members else { return true }
        return members.contains { $0.value.text.map(Self.isSlot) ?? true }
    }

    /// Whether an update sends the whole record; nil when the body does not say.
    var sendsRecord: Bool? { isTemplate ? Self.has(Self.record, node.value) : nil }

    private static func isSlot(_ text: String) -> Bool { text == fields || text == record }

    private static func has(_ slot: String, _ value: YAMLValue) -> Bool {
        value.text == slot || (value.members ?? []).contains { $0.key.text == slot || has(slot, $0.value) }
            || (value.elements ?? []).contains { has(slot, $0) }
    }

    // MARK: Names

    /// The names and places of fields; nil if they are sent under their own names.
    func places() throws(SchemaError) -> FieldPlaces? {
        let slot = isTemplate ? try slot(in: node) : node
        return try slot.map { (slot) throws(SchemaError) in
            let places = try members(slot)
            guard let field = places.element else { return places }
            throw slot.error("\(Self.each) stands in a list: [{ name: { \(Self.each): \(field) } }]")
        }
    }

    /// `{ $fields: { … } }` or `{ $record: { … } }`.
    private static func slot(at node: SchemaNode) throws(SchemaError) -> SchemaNode? {
        guard node.isMapping else { return nil }
        let members = try node.members()
        guard let slot = members.first(where: { isSlot($0.name) }) else { return nil }
        guard members.count == 1 else {
            throw slot.value.error(
                "nothing can stand beside \(slot.name) like this; to put the fields beside others, write "
                    + "\(BatchTemplate.spread): \(slot.name), or \(BatchTemplate.spread): { \(slot.name): { … } }")
        }
        return slot.value
    }

    private func slot(in node: SchemaNode) throws(SchemaError) -> SchemaNode? {
        if let slot = try Self.slot(at: node) { return slot }
        let inner = node.isMapping ? try node.members().map(\.value) : node.isSequence ? try node.elements() : []
        for node in inner {
            if let slot = try slot(in: node) { return slot }
        }
        return nil
    }

    private func members(_ node: SchemaNode) throws(SchemaError) -> FieldPlaces {
        var members: [FieldPlaces.Member] = []
        for (name, value) in try node.members() {
            members.append(FieldPlaces.Member(name: name, places: try places(value)))
        }
        return .object(members)
    }

    /// What stands for a text that is sent as it is, for each element of a field, and around what is null or `""` as a whole.
    static let (text, each, orNull, orEmpty) = ("$text", "$each", "$or_null", "$or_empty")
    private static let words = [text, each, orNull, orEmpty]

    private func places(_ node: SchemaNode) throws(SchemaError) -> FieldPlaces {
        if node.isMapping {
            if let word = try word(in: node) { return word }
            return try members(node)
        }
        guard node.isSequence else {
            // Numbers, true, false and null, if they stand without quotes.
            if case .scalar(let text, true) = node.value.content, let json = try? JSONText(parsing: text),
                json.kind != .string
            {
                return .constant(json)
            }
            let name = try node.string()
            guard !name.hasPrefix("$") else {
                let near = Suggestion.hint(for: name, among: [Self.fields, Self.record])
                throw node.error("\(name) cannot stand here\(near); expected the name of a field")
            }
            guard !name.hasPrefix("{") else {
                throw node.error(
                    "expected the name of a field; a value stands beside the fields: "
                        + "{ \(BatchTemplate.spread): { \(Self.fields): { … } }, name: \"\(name)\" }")
            }
            return .field(name)
        }
        let elements = try node.elements()
        guard elements.count == 1, let only = elements.first else {
            throw node.error("expected one field in the list; a list with others is one field of type list")
        }
        let inside = try places(only)
        guard inside.element == nil || inside.fields.count == 1 else {
            throw only.error("no other field can stand beside \(Self.each), which repeats what is around it")
        }
        return .list(inside)
    }

    /// `{ $text: doc }`, `{ $each: field }`, `{ $or_null: { … } }` or `{ $or_empty: field }`; nil if the members are names.
    private func word(in node: SchemaNode) throws(SchemaError) -> FieldPlaces? {
        let members = try node.members()
        guard let (word, value) = members.first(where: { Self.words.contains($0.name) }) else { return nil }
        guard members.count == 1 else {
            throw value.error("nothing can stand beside \(word); give it a member of its own")
        }
        if word == Self.text { return .constant(.string(try value.string())) }
        let places = try places(value)
        if word == Self.each {
            guard case .field(let name) = places else { throw value.error("expected the name of a field of type list") }
            return .element(name)
        }
        guard !places.fields.isEmpty else { throw value.error("expected the name of a field in \(word)") }
        return .orElse(word == Self.orNull ? .null : .string(""), places)
    }

    // MARK: A form around the fields

    func template() throws(SchemaError) -> BodyTemplate {
        let template = try template(node)
        guard sendsFields else { return try values() }
        guard template.fieldsCount == 1 || mayBeAction && !template.hasFields else {
            throw node.error(
                "expected \(Self.fields) (what changes) or \(Self.record) (the whole record) once, in its place; "
                    + "names inside others stand in \(Self.fields): { … }")
        }
        return template
    }

    /// A body of constants and values of the record.
    func values() throws(SchemaError) -> BodyTemplate {
        let template = try template(node)
        guard template.fieldsCount == 0 else {
            throw node.error("nothing changes here; expected values of the record such as {id}, without \(Self.fields)")
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
            if try Self.slot(at: node) != nil { return .fields }
            var members: [BodyTemplate.Member] = []
            for (name, value) in try node.members() {
                // With a list or an object as its value, $text is a member of the upstream's, such as an operator of
                // MongoDB.
                if [Self.orNull, Self.orEmpty].contains(name) || name == Self.text && value.value.text != nil {
                    throw value.error(
                        "\(name) can only stand in \(Self.fields): { … } or \(Self.record): { … }; around that, a text is "
                            + "sent as it is written")
                }
                if case .placeholder(let field)? = Template(name)?.parts.first, name == "{\(field)}",
                    Self.isName(field)
                {
                    throw value.error("a member's name is sent as it is written: {\(field)} cannot be a value there")
                }
                let member = BodyTemplate.Member(name: name, value: try template(value))
                guard name != BatchTemplate.spread || member.isSpread else {
                    throw value.error("only \(Self.fields) or \(Self.record) can stand after \(name)")
                }
                members.append(member)
            }
            return .object(members)
        }
    }

    private func scalar(_ text: String, _ isPlain: Bool, _ node: SchemaNode) throws(SchemaError) -> BodyTemplate {
        if Self.isSlot(text) { return .fields }
        // Numbers, true, false and null, if they stand without quotes.
        if isPlain, let json = try? JSONText(parsing: text), json.kind != .string { return .constant(json) }
        guard text.contains("{") || text.hasPrefix("$") else { return .constant(.string(text)) }
        guard let template = Template(text), !text.hasPrefix("$") else {
            // Braces within braces, as in a query of GraphQL.
            if !text.hasPrefix("$"), !text.contains("{$") { return .constant(.string(text)) }
            throw Self.unexpected(node)
        }
        if case .placeholder(let name)? = template.parts.first, template.parts.count == 1, Self.isName(name) {
            return name == Template.key ? .key : .value(name)
        }
        guard !template.placeholders.contains(where: Self.isName) else { throw Self.unexpected(node) }
        return .constant(.string(text))
    }

    private static func isName(_ text: String) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isNumber || "_.$".contains($0) }
    }

    private static func unexpected(_ node: SchemaNode) -> SchemaError {
        node.error("expected \(fields), \(record), one {field} or {\(Template.key)} alone, or text without {names}")
    }
}
