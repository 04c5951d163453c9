package import EntitySchema
internal import JSONText

/// Makes a description of an API from what it answered, as if it had a document.
package struct ObservedAPI {
    let address: String
    let lists: [ObservedList]
    let signIn: TokenPlace?

    /// `signIn`: where the token was, nil without one.
    package init(address: String, lists: [ObservedList], signIn: TokenPlace?) {
        self.address = address
        self.lists = lists
        self.signIn = signIn
    }

    package func document() throws(SchemaDraftError) -> OpenAPIDocument {
        guard lists.contains(where: { !$0.records.isEmpty }) else {
            throw .nothing("no answer had a list of objects; check the addresses and the token")
        }
        let host = UpstreamGuess.origin(of: address)?.split(separator: "/").last.map(String.init) ?? address
        let title = host.split(separator: ":").first.map(String.init) ?? host
        var root: [(name: String, value: DocumentValue)] = [
            ("openapi", text("3.1.0")), ("info", object([("title", text(title))])),
            ("servers", .array([object([("url", text(address))])])),
            ("paths", object(lists.flatMap(paths))),
        ]
        if let scheme {
            root.append(("components", object([("securitySchemes", object([("token", scheme)]))])))
            root.append(("security", .array([object([("token", .array([]))])])))
        }
        var document = try OpenAPIDocument(object(root))
        document.isObserved = true
        return document
    }

    private func text(_ text: String) -> DocumentValue { .scalar(text, isPlain: false) }

    private func object(_ members: [(name: String, value: DocumentValue)]) -> DocumentValue {
        .object(DocumentObject(members))
    }

    private var scheme: DocumentValue? {
        switch signIn {
        case nil: nil
        case .basic: object([("type", text("http")), ("scheme", text("basic"))])
        case .query(let name): object([("type", text("apiKey")), ("in", text("query")), ("name", text(name))])
        case .header(let name, let before, _):
            before == "Bearer "
                ? object([("type", text("http")), ("scheme", text("bearer"))])
                : object([
                    ("type", text("apiKey")), ("in", text("header")), ("name", text(name)),
                    ("description", text(before)),
                ])
        }
    }

    // MARK: Beside a document

    /// The document with these answers where it says nothing of them. It stays right about all else, and about what the
    /// answers have where it says that too.
    package func completing(_ document: OpenAPIDocument) -> OpenAPIDocument {
        var document = document
        document.note(asked: address, signIn: signIn)
        for list in lists {
            let shape = ObservedShape(
                reference: { name, values in reference(name, values, from: list) }, isExample: true)
            document.take(
                shape.schema(of: list.answers), of: list.path, headers: headers(list), records: list.records.count)
            if let single = list.single, let path = list.singlePath {
                document.take(shape.schema(of: [single]), of: path)
            }
        }
        return document
    }

    private func headers(_ list: ObservedList) -> [String] {
        (list.hasLinkHeader ? ["Link"] : []) + [list.totalHeader].compactMap(\.self)
    }

    // MARK: Paths

    private func paths(_ list: ObservedList) -> [(name: String, value: DocumentValue)] {
        let shape = ObservedShape { name, values in reference(name, values, from: list) }
        var paths = [(name: list.path, value: object([("get", call(list, shape))]))]
        if let single = list.single, let key = list.key {
            let answer = answer(shape.schema(of: [single]))
            paths.append((list.recordPath("{\(key)}"), object([("get", object([("responses", answer)]))])))
        }
        return paths
    }

    private func call(_ list: ObservedList, _ shape: ObservedShape) -> DocumentValue {
        var parameters: [DocumentValue] = []
        func add(_ name: String, _ type: String) {
            parameters.append(
                object([("name", text(name)), ("in", text("query")), ("schema", object([("type", text(type))]))]))
        }
        if let page = list.page { add(page.name, page.isNumber ? "integer" : "string") }
        if let size = list.size { add(size, "integer") }
        let answer = answer(shape.schema(of: list.answers + [list.small].compactMap(\.self)), headers(list))
        let next = list.nextPlace.map { [("x-next-page", text($0))] } ?? []
        return object([("parameters", .array(parameters)), ("responses", answer)] + next)
    }

    private func answer(_ schema: DocumentValue, _ headers: [String] = []) -> DocumentValue {
        let content = object([("application/json", object([("schema", schema)]))])
        let headers = headers.isEmpty ? [] : [("headers", object(headers.map { ($0, object([])) }))]
        return object([("200", object([("content", content)] + headers))])
    }

    // MARK: References

    /// The list whose keys all of these values are. Small numbers are keys of many lists, so there the name counts too.
    private func reference(_ name: String, _ values: [JSONText], from list: ObservedList) -> String? {
        let texts = Set(values.map(\.plain))
        guard texts.count > 1, name != list.key, let first = values.first,
            first.kind == .string || first.kind == .number
        else { return nil }
        let isTelling = first.kind == .string && texts.allSatisfy { $0.utf8.count >= 8 }
        return lists.first { other in
            guard let key = other.key, isTelling || isNamed(name, after: other) else { return false }
            let keys = Set(other.records.compactMap { $0[key]?.plain })
            return texts.count(where: keys.contains) * 10 >= texts.count * (isTelling ? 5 : 3)
        }?.path
    }

    private func isNamed(_ name: String, after list: ObservedList) -> Bool {
        let last = list.path.split(separator: "/").last.map(String.init) ?? ""
        return Words.folded(name).hasPrefix(Words.folded(Words.singular(last)))
    }
}
