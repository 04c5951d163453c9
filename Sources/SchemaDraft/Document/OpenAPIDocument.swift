internal import EntitySchema

/// An OpenAPI document as its calls, shapes and ways to sign in.
package struct OpenAPIDocument: Sendable {
    let root: DocumentValue
    let shapes: ShapeReader
    /// Those of the document; `answered` adds what lists were seen to answer.
    private(set) var operations: [APIOperation]
    package let title: String
    /// Such as `OpenAPI 3.1.0` or `OpenAPI 2.0`.
    package let version: String
    /// Whether it was made of answers, not written by people.
    var isObserved = false
    /// Where lists were asked, and how the token was sent if the document does not say it.
    private(set) var asked: (address: String, signIn: TokenPlace?)?

    package init(_ root: DocumentValue) throws(SchemaDraftError) {
        guard root.isObject else {
            throw .unreadable(OtherDocument.reason(notObject: root))
        }
        guard let version = root["openapi"]?.text ?? root["swagger"]?.text else {
            throw .unreadable(OtherDocument.reason(noVersion: root))
        }
        guard let paths = root["paths"], paths.isObject else {
            throw .unreadable("it has no paths, so it describes no calls; give the document that has them")
        }
        self.root = root
        self.version = "OpenAPI \(version.prefix(20))"
        let title = root["info"]?["title"]?.text ?? ""
        self.title = title.allSatisfy(\.isWhitespace) ? "API" : title
        shapes = ShapeReader(root: root)
        operations = OperationReader(root: root).operations()
        if operations.allSatisfy({ $0.answer == nil }), let file = OtherDocument.fileWithCalls(paths) {
            throw .unreadable(
                "its calls are in other files (\(file.prefix(200))), which are not read; bundle them into one document first, as `redocly bundle` does"
            )
        }
    }

    /// Takes the answer of a GET that was seen at `path`. `records`: how many it had, for a list.
    mutating func take(_ answer: DocumentValue, of path: String, headers: [String] = [], records: Int? = nil) {
        for index in operations.indices where operations[index].method == "GET" && operations[index].path.text == path {
            operations[index].answer = shapes.shape(of: answer)
            operations[index].answerHeaders += headers
            operations[index].seenRecords = records
        }
    }

    mutating func note(asked address: String, signIn: TokenPlace?) { asked = (address, signIn) }

    /// What the document says about the API as a whole.
    var about: String { root["info"]?["description"]?.text ?? "" }

    /// The names of security schemes that apply to all operations without their own.
    var security: [String] { root["security"]?.elements.first?.members.map(\.name) ?? [] }

    /// Name → scheme.
    var securitySchemes: [(name: String, value: DocumentValue)] {
        let members = (root["components"]?["securitySchemes"] ?? root["securityDefinitions"])?.members ?? []
        return members.map { ($0.name, shapes.resolver.resolve($0.value).value) }
    }

    /// The addresses in front of all paths, as far as the document says them.
    var addresses: [String] {
        let servers = root["servers"]?.elements ?? []
        guard servers.isEmpty else { return servers.compactMap(Self.address) }
        guard let host = root["host"]?.text else { return [root["basePath"]?.text].compactMap(\.self) }
        let schemes = root["schemes"]?.elements.compactMap(\.text) ?? []
        let scheme = schemes.isEmpty || schemes.contains("https") ? "https" : schemes[0]
        return ["\(scheme)://\(host)\(root["basePath"]?.text ?? "")"]
    }

    /// Nil if it is no address, or longer than any: the value of a variable may have variables, which would make it grow
    /// without end.
    private static func address(_ server: DocumentValue) -> String? {
        guard var url = server["url"]?.text else { return nil }
        for variable in (server["variables"]?.members ?? []).prefix(100) {
            let value = variable.value["default"]?.text ?? ""
            // One that is called like the variable only shows where a value belongs; so for `$$.env.store` with `store`.
            let names = [variable.name, variable.name.split(separator: ".").last.map(String.init) ?? ""]
            guard !value.isEmpty, !names.map(Words.folded).contains(Words.folded(value)) else { continue }
            guard url.utf8.count <= 2000, value.utf8.count <= 2000 else { return nil }
            url = url.replacing("{\(variable.name)}", with: value)
        }
        return url.utf8.count <= 2000 ? url : nil
    }
}

/// Why no schema can be drafted.
package enum SchemaDraftError: Error, Sendable, Equatable {
    /// It cannot be read, or describes no API.
    case unreadable(String)
    /// It describes an API without anything that can be synced, or without what was asked for.
    case nothing(String)

    package var message: String {
        switch self {
        case .unreadable(let message), .nothing(let message): message
        }
    }
}
