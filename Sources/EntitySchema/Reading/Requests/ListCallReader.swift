internal import JSONText

/// Reads how a list is asked for: `call` or `path`, `query`, `body` and `headers`, with the values that they name.
struct ListCallReader {
    static let keys = ["path", "call", "query", "body", "headers"]

    /// Where these keys are.
    let node: SchemaNode
    let names: TemplateNames
    /// Values that some of its requests lack.
    var mayLack = ["since", "delta", "cursor", "until"]

    struct Result {
        /// As written.
        var path: String
        var query: [QueryItem]
        /// Nil for GET without values.
        var call: ListCall?
    }

    func read() throws(SchemaError) -> Result {
        let (method, path) = try target()
        var call = ListCall(method: method)
        if Self.hasValues(path.text) {
            call.path = try path.node.template(path.text, pathNames)
        } else if path.text.contains("{") || path.text.contains("}") {
            throw path.node.error("expected a path without braces, but for values such as \(pathNames.examples)")
        }
        var query: [QueryItem] = []
        for (name, value) in try node.child("query")?.members() ?? [] {
            for element in try value.oneOrMore() {
                let text = try element.string()
                if Self.hasValues(text) {
                    call.query.append(ListCall.Parameter(name: name, value: try element.listTemplate(names)))
                } else {
                    query.append(QueryItem(name: name, value: text))
                }
            }
        }
        if let body = node.child("body") {
            guard method == "POST" else {
                throw body.error("a list with a body is asked for by POST: write call: POST …")
            }
            call.body = try body.jsonTemplate(names)
        }
        for (name, value) in try node.child("headers")?.members() ?? [] {
            _ = try value.addedHeader(name)
            call.headers.append(ListCall.Parameter(name: name, value: try value.listTemplate(names)))
        }
        return Result(path: path.text, query: query, call: call == ListCall() ? nil : call)
    }

    private static func hasValues(_ text: String) -> Bool { text.contains("{$") }

    /// What a path may name has a value in every request.
    private var pathNames: TemplateNames {
        var names = names
        for name in mayLack {
            names.values.remove(name)
            names.needs[name] = "it can be missing, and a path cannot leave it out; write it in query, body or headers"
        }
        return names
    }

    private func target() throws(SchemaError) -> (method: String, path: (text: String, node: SchemaNode)) {
        guard let call = node.child("call") else {
            let path = try node.required("path")
            return ("GET", (try path.urlPath(), path))
        }
        if let path = node.child("path") { throw path.error("call has the path already; remove path") }
        let words = try call.words()
        guard words.count == 2, ["GET", "POST"].contains(words[0]), words[1].hasPrefix("/") else {
            throw call.error("expected GET or POST and a path, such as POST /graphql")
        }
        return (words[0], (words[1], call))
    }
}

extension SchemaNode {
    fileprivate func template(_ text: String, _ names: TemplateNames) throws(SchemaError) -> ValueTemplate {
        try checked(text, ValueTemplate(values: text), names)
    }

    /// Any value; only `{$…}` in its texts names one of these values.
    func jsonTemplate(_ names: TemplateNames) throws(SchemaError) -> JSONTemplate {
        switch value.content {
        case .scalar(let text, let isPlain):
            // Numbers, true, false and null, if they stand without quotes.
            if isPlain, let json = try? JSONText(parsing: text), json.kind != .string { return .constant(json) }
            if text.isEmpty { return .constant(.string("")) }
            let template = try listTemplate(names)
            return template.placeholders.isEmpty ? .constant(.string(text)) : .text(template)
        case .sequence:
            var elements: [JSONTemplate] = []
            for element in try self.elements() { elements.append(try element.jsonTemplate(names)) }
            return .list(elements)
        case .mapping:
            var members: [JSONTemplate.Member] = []
            for (name, value) in try self.members() {
                members.append(JSONTemplate.Member(name: name, value: try value.jsonTemplate(names)))
            }
            return .object(members)
        }
    }
}
