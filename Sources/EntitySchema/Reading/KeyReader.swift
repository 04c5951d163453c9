internal import JSONText

/// Reads an entity's `key`: the field's name, or `{ field, made, from }`.
struct KeyReader {
    /// Nil when the schema does not say.
    let node: SchemaNode?

    struct Key {
        var field: String
        var form: KeyForm?
        /// Where the upstream's records have it; nil if they have the field itself.
        var source: Lift.Source?
    }

    func key() throws(SchemaError) -> Key {
        guard let node else { return Key(field: "id") }
        guard !node.isSequence else {
            throw node.error(
                "a record has one key; expected the name of a field that differs in all records, or with several that only "
                    + "differ together { field: id, from: [order_id, line_no] }")
        }
        guard node.isMapping else { return Key(field: try node.string()) }
        try node.requireKeys(["field", "made", "from"])
        var key = Key(field: try node.child("field")?.string() ?? "id", form: try form(node.child("made")))
        guard let from = node.child("from") else { return key }
        key.source = try from.keySource(of: key.field)
        if let made = node.child("made"), key.form != .server {
            throw made.error(
                "a key that is read from another place is made by the upstream; remove made, or write server")
        }
        key.form = .server
        return key
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

extension SchemaNode {
    /// `sys.id`, `{ link: url }`, `[order_id, line_no]` or `$name`.
    fileprivate func keySource(of field: String) throws(SchemaError) -> Lift.Source {
        if isMapping { return try linkSource(of: field) }
        guard isSequence else {
            if try string() == "$name" { return .name }
            let path = try onePlace(of: field)
            if JSONPath.steps(path).count == 1, (try? identifier(path, mayBeginWithLine: true)) != nil {
                throw error("\(path) is a member of the record itself; write key: \(path)")
            }
            return .value(path)
        }
        var paths: [String] = []
        for part in try elements() { paths.append(try part.onePlace(of: field)) }
        guard paths.count > 1, Set(paths).count == paths.count else {
            throw error("expected at least two places, each once, such as [order_id, line_no]")
        }
        return .parts(paths)
    }

    /// `{ link: url }`.
    func linkSource(of field: String) throws(SchemaError) -> Lift.Source {
        try requireKeys(["link"])
        return .link(try required("link").onePlace(of: field))
    }

    /// The member that gets the value takes the place of one with its name.
    func onePlace(of field: String) throws(SchemaError) -> String {
        guard !isSequence, let path = try place().paths.first else { throw error("expected one place, such as sys.id") }
        guard !JSONPath.isThroughList(path) else { throw error("\(path) goes through a list; expected one value") }
        guard JSONPath.steps(path).first != field[...] else {
            throw error(
                "the value at \(path) would take the place of the member \(field); give the field another name")
        }
        return path
    }
}
