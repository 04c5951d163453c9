internal import JSONText

/// One method at one address, as the OpenAPI document describes it.
struct OpenAPICall: Sendable {
    var method: String
    /// With its variable parts in braces, as OpenAPI has them.
    var path: String
    /// Whether unknown callers may make it.
    var isOpen: Bool
    var operation: OpenAPIOperation
    /// Makes a good name of a method in a generated client.
    var id: String

    /// `calls`: all calls of the document, for links.
    func json(among calls: [OpenAPICall]) -> JSONText {
        var members: [(key: String, value: JSONText)] = [
            ("operationId", .string(id)), ("summary", .string(operation.summary)), ("tags", .array([.string(tag)])),
        ]
        if isOpen { members.append(("security", .array([.object([:])]))) }
        let all = (placeholders + operation.parameters).map { Self.reference("parameters", $0) }
        if !all.isEmpty { members.append(("parameters", .array(all))) }
        if let body = operation.body {
            var content = Self.content(.json(body))
            if operation.takesMergePatch {
                content = content.setting(PatchFormat.mergePatch, to: Self.reference(to: body))
            }
            members.append(
                ("requestBody", .object(["required": .boolean(!operation.bodyIsOptional), "content": content])))
        }
        if !operation.bodyTypes.isEmpty {
            members.append(
                ("requestBody", .object(["required": true, "content": Self.content(.bytes(operation.bodyTypes))])))
        }
        members.append(("responses", .object(members: responses(links(among: calls)))))
        return .object(members: members)
    }

    // MARK: Parts

    private var tag: String {
        let segments = path.split(separator: "/")
        guard segments.first == "v1", segments.count > 1 else { return "daemon" }
        return String(segments[1])
    }

    private var placeholders: [String] {
        if path.contains("{entity}") { return ["entity"] }
        guard path.contains("{id}") else { return [] }
        return [["conflicts", "pending", "reminders"].contains(tag) ? "number" : "id"]
    }

    private func links(among calls: [OpenAPICall]) -> JSONText? {
        guard let leads = operation.leads else { return nil }
        let parameters = JSONText.object(["id": .string("$response.body#\(leads.key)")])
        let links = calls.filter { $0.path.hasPrefix("\(leads.to)/{id}") }.map { call in
            (key: call.id, value: JSONText.object(["operationId": .string(call.id), "parameters": parameters]))
        }
        return links.isEmpty ? nil : .object(members: links)
    }

    private func responses(_ links: JSONText?) -> [(key: String, value: JSONText)] {
        let good = operation.answers.map { status, content in
            var members: [(key: String, value: JSONText)] = [("description", .string(Self.meaning[status] ?? ""))]
            let optional = HeaderComponents.optional(operation.parameters, isRead: method == "GET", content)
            members.append(
                ("headers", HeaderComponents.references(optional, required: Self.headers(of: status))))
            if case .nothing = content {} else { members.append(("content", Self.content(content))) }
            if let links, status < 202 { members.append(("links", links)) }
            return (key: String(status), value: JSONText.object(members: members))
        }
        let bad = problemStatuses.map { status in
            (key: String(status), value: Self.reference("responses", String(status)))
        }
        return good + bad
    }

    /// The statuses of its problems, in order.
    var problemStatuses: [Int] {
        Set(operation.problems + (isOpen ? [] : [401, 429]) + Self.always).subtracting(operation.answers.map(\.0))
            .sorted()
    }

    private static func content(_ content: OpenAPIOperation.Content) -> JSONText {
        switch content {
        case .nothing: .object([:])
        case .json(let name): .object(["application/json": reference(to: name)])
        case .jsonOrText(let name): .object(["application/json": reference(to: name), "text/plain": text])
        case .list(let name):
            .object(members: ListFormat.types.map { ($0, $0 == PatchFormat.json ? reference(to: name) : text) })
        case .bytes(let types): .object(members: types.map { (key: $0, value: .object([:])) })
        case .text(let type): .object(members: [(key: type, value: text)])
        case .events(let name): .object(["text/event-stream": reference(to: name)])
        }
    }

    private static let text = JSONText.object(["schema": .object(["type": "string"])])

    private static func reference(to schema: String) -> JSONText { .object(["schema": reference("schemas", schema)]) }

    static func reference(_ kind: String, _ name: String) -> JSONText {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }

    // MARK: Statuses

    /// The problems that any request can meet.
    private static let always = [400, 403, 408, 412, 413, 414, 415, 431, 503]

    /// The header fields that every answer with this status has besides those of all; nil for none.
    static func headers(of status: Int) -> JSONText? {
        let names: [Int: [String]] = [
            201: ["Location", "ETag"], 304: ["ETag"], 401: ["WWW-Authenticate"], 405: ["Allow"], 429: ["Retry-After"],
            503: ["Retry-After"],
        ]
        return names[status].map { names in
            let field = JSONText.object(["required": true, "schema": .object(["type": "string"])])
            return .object(members: names.map { (key: $0, value: field) })
        }
    }

    static let meaning = [
        200: "success", 201: "created", 202: "accepted; not done yet", 204: "done; no content",
        206: "the requested range", 401: "the page that asks for the daemon's token",
        304: "not modified since the version that If-None-Match names",
    ]
}
