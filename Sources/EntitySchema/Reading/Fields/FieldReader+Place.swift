internal import JSONText

/// Reads `from`: where the upstream's record has the field.
extension FieldReader {
    func readPlace(_ node: SchemaNode, of field: inout Field) throws(SchemaError) {
        if node.isMapping { return try readLink(node, of: &field) }
        let source = try node.source()
        try check(node, source, field)
        field.source = source
    }

    /// `{ link: contact, sent: "https://api.example/contacts/{contact_id}" }`: where the upstream has the address of the record
    /// that a reference leads to.
    private func readLink(_ node: SchemaNode, of field: inout Field) throws(SchemaError) {
        guard field.isReference, !field.isStoredSealed else {
            throw node.error(
                "only a reference that is not secret or sealed can be read from a link; name a place in from")
        }
        try node.requireKeys(["link", "sent"])
        field.link = try node.required("link").onePlace(of: field.name)
        guard let sent = node.child("sent") else { return }
        let template = try sent.template()
        guard template.placeholders == [field.name] else {
            throw sent.error("expected the address of the other record with {\(field.name)} once in it")
        }
        field.sentLink = template
    }

    /// A member with the field's own name is read first. A part of a list cannot be sealed, and what goes through a list is
    /// one.
    private func check(_ node: SchemaNode, _ source: String, _ field: Field) throws(SchemaError) {
        let steps = JSONPath.steps(source)
        if steps == [field.name[...]] {
            throw node.error("\(field.name) is read under its own name anyway; remove from")
        }
        if steps.first == field.name[...] {
            let other = "\(field.name)_value"
            throw node.error(
                "a record's member \(field.name) is read first and hides \(source); give the field another name, such as "
                    + "\(other), which a change sends with $fields: { \(field.name): \(other) }")
        }
        if field.isStoredSealed, steps.contains(where: { $0 == "*" || Int($0) != nil }) {
            throw node.error(
                "a \(field.sealingWord) field cannot be a part of a list; remove \(field.sealingWord), or read the list"
            )
        }
        if steps.contains("*"), field.kind != .list {
            throw node.error("a value from all elements of a list is a list: write type: list, or name one element")
        }
    }
}

extension SchemaNode {
    /// Names, numbers of elements, and `*` for all elements once.
    fileprivate func source() throws(SchemaError) -> String {
        guard !isSequence else { throw error("expected one place; a field has no alternatives") }
        let path = try string()
        try checkSteps(of: path)
        let steps = path.split(separator: ".", omittingEmptySubsequences: false)
        if JSONPath.isValid(path), path.contains("\"") {
            guard JSONPath.steps(path).allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" } })
            else {
                throw error("\(path) cannot be a place; expected names without backslashes and control characters")
            }
        } else {
            for step in steps where step != "*" && Int(step) == nil {
                do {
                    _ = try identifier(String(step), mayBeginWithLine: true)
                } catch {
                    throw self.error(
                        #"\#(step) needs quotes of its own to stand in a place, such as 'fields."Full Name"'"#)
                }
            }
        }
        guard JSONPath.steps(path).count(where: { $0 == "*" }) < 2 else {
            throw error("\(path) goes through two lists; a field can go through one")
        }
        return path
    }
}
