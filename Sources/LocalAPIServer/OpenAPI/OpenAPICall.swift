internal import JSONText

/// One method at one address, as the OpenAPI document describes it.
struct OpenAPICall {
    /// What an answer or a body holds.
    enum Content {
        case nothing
        /// The component schema of this name.
        case json(String)
        /// Text of another type.
        case text(String)
    }

    var method: String
    /// With its holes in braces, as OpenAPI has them.
    var path: String
    var summary: String
    /// Names of component parameters, and parameters that no other call takes.
    var parameters: [String] = []
    var own: [JSONText] = []
    /// The component schema of the body; nil where none is sent.
    var body: String?
    var bodyIsOptional = false
    var answers: [(status: Int, content: Content)]
    /// Problems that it meets besides those that every call may.
    var problems: [Int] = []

    var json: JSONText {
        var members: [(key: String, value: JSONText)] = [
            ("operationId", .string(id)), ("summary", .string(summary)), ("tags", .array([.string(tag)])),
        ]
        if path == "/healthz" { members.append(("security", .array([.object([:])]))) }
        let all = (holes + parameters).map { Self.reference("parameters", $0) } + own
        if !all.isEmpty { members.append(("parameters", .array(all))) }
        if let body {
            members.append(
                ("requestBody", .object(["required": .boolean(!bodyIsOptional), "content": Self.content(.json(body))])))
        }
        members.append(("responses", .object(members: responses)))
        return .object(members: members)
    }

    // MARK: Parts

    private var id: String {
        let words = path.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        return ([method.lowercased()] + words.map(String.init)).joined(separator: "_")
    }

    private var tag: String {
        let segments = path.split(separator: "/")
        guard segments.first == "v1", segments.count > 1 else { return "daemon" }
        return String(segments[1])
    }

    private var holes: [String] {
        guard path.contains("{id}") else { return [] }
        return [tag == "pending" || tag == "conflicts" ? "number" : "id"]
    }

    private var responses: [(key: String, value: JSONText)] {
        let good = answers.map { status, content in
            var members: [(key: String, value: JSONText)] = [("description", .string(Self.meaning[status] ?? ""))]
            if case .nothing = content {} else { members.append(("content", Self.content(content))) }
            return (key: String(status), value: JSONText.object(members: members))
        }
        let always = path == "/healthz" ? [403] : [400, 401, 403, 429, 503]
        let bad = Set(problems + always).sorted().map { status in
            (key: String(status), value: Self.reference("responses", String(status)))
        }
        return good + bad
    }

    private static func content(_ content: Content) -> JSONText {
        switch content {
        case .nothing: .object([:])
        case .json(let name): .object(["application/json": .object(["schema": reference("schemas", name)])])
        case .text(let type):
            .object(members: [(key: type, value: .object(["schema": .object(["type": "string"])]))])
        }
    }

    static func reference(_ kind: String, _ name: String) -> JSONText {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }

    // MARK: Statuses

    static let meaning = [
        200: "as asked", 201: "created", 202: "taken; not done yet", 204: "done; there is nothing to say",
        304: "nothing has changed since the version that If-None-Match names",
    ]

    static let problemMeaning = [
        400: "malformed JSON, or a parameter that cannot be meant", 401: "a token is needed, or not the right one",
        403: "the request comes from another site, or calls by a name that is not the daemon's",
        404: "there is no such record, change, conflict or address",
        405: "the schema has no way to send this; see Allow", 409: "cannot be done in the present state",
        410: "a place in the change log that is not kept any more",
        412: "the record has become another version than If-Match names", 413: "a body over 1 MiB",
        415: "a body that is not application/json",
        422: "a field that the schema does not know or cannot send, or a value that does not fit it",
        429: "too many calls; see Retry-After", 502: "the upstream failed",
        503: "nothing can be read or written right now, or the upstream is away", 504: "the upstream was too slow",
    ]
}
