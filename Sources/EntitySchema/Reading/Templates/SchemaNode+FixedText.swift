extension SchemaNode {
    /// Throws if a text that is sent as it is written names a value: `{$secret.k}`.
    ///
    /// Settings are filled in before. Braces without `$` stand for themselves.
    func refuseTemplate(in text: String, else hint: String = "") throws(SchemaError) {
        guard let opening = text.firstRange(of: "{$") else { return }
        let rest = text[opening.lowerBound...]
        let name = rest[...(rest.firstIndex(of: "}") ?? rest.index(before: rest.endIndex))]
        throw error("\(name) cannot stand here; expected a fixed text, or {$setting.name}\(hint)")
    }

    /// A text that is sent as it is written.
    func fixedText() throws(SchemaError) -> String {
        let text = try string()
        try refuseTemplate(in: text)
        return text
    }

    /// A path that is sent as it is written.
    func fixedPath() throws(SchemaError) -> String {
        let path = try urlPath()
        try refuseTemplate(in: path)
        guard !path.contains("{"), !path.contains("}") else {
            throw error("expected a path without braces: it is the same for all records")
        }
        return path
    }
}
