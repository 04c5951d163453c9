/// Reads an entity's `key`: the field's name, or `{ field, made }`.
struct KeyReader {
    /// Nil when the schema does not say.
    let node: SchemaNode?

    func key() throws(SchemaError) -> (field: String, form: KeyForm?) {
        guard let node else { return ("id", nil) }
        guard !node.isSequence else {
            throw node.error("a record has one key; expected the name of a field that differs in all records")
        }
        guard node.isMapping else { return (try node.string(), nil) }
        try node.requireKeys(["field", "made"])
        return (try node.child("field")?.string() ?? "id", try form(node.child("made")))
    }

    private func form(_ node: SchemaNode?) throws(SchemaError) -> KeyForm? {
        guard let node else { return nil }
        let text = try node.string()
        if text == "uuid" { return nil }
        if text == "server" { return .server }
        guard let form = KeyForm(pattern: text) else {
            throw node.error(
                "expected server, uuid, or characters and how many, such as \"[a-z0-9]{15}\", that make at least 2^60 keys"
            )
        }
        return form
    }
}
