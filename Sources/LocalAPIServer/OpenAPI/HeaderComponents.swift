internal import JSONText

/// The header fields of answers, as the document has them.
enum HeaderComponents {
    /// By name: what the field says, and whether every answer has it.
    private static let fields: [(name: String, description: String, isAlways: Bool)] = [
        (id, "the id of the request, the caller's own if it sent a plain one", true),
        ("Cache-Control", "who may keep the answer", true),
        ("Vary", "what the answer depends on besides its address", true),
        ("ETag", "the version", false),
        ("Link", "the address of the next page, as rel=\"next\"; none on the last", false),
        ("Location", "the address of the new record", false),
        ("Preference-Applied", "the part of Prefer that was honoured", false),
        (
            "Idempotent-Replayed", "true if this is the answer to an earlier request with the same Idempotency-Key",
            false
        ),
        ("Cache-Status", "whether the upstream was asked (RFC 9211)", false),
        ("Server-Timing", "why the list reads the whole table", false),
        ("Content-Encoding", "gzip, if the answer is compressed", false),
        ("Accept-Ranges", "bytes", false),
        ("Content-Range", "the part of the content", false),
    ]

    static var all: JSONText {
        .object(
            members: fields.map { field in
                let header = JSONText.object([
                    "description": .string(field.description), "schema": .object(["type": "string"]),
                ])
                return (field.name, field.isAlways ? header.setting("required", to: true) : header)
            })
    }

    /// Those that a good answer of the call may have, by what it takes.
    static func optional(_ parameters: [String], isRead: Bool, _ content: OpenAPIOperation.Content) -> [String] {
        func takes(_ names: String...) -> Bool { names.contains { parameters.contains($0) } }
        var names: [String] = []
        if takes("if_none_match", "if_match") { names.append("ETag") }
        if isRead, takes("cursor", "position") { names.append("Link") }
        if takes("idempotency_key") { names.append("Idempotent-Replayed") }
        if takes("wait_for_push", "prefer_wait") { names.append("Preference-Applied") }
        if takes("refresh") { names.append("Cache-Status") }
        if parameters.contains(where: { $0.hasSuffix(".comparisons") }) { names.append("Server-Timing") }
        switch content {
        case .bytes: names += ["Accept-Ranges", "Content-Range"]
        case .list: names += ["Cache-Status", "Content-Encoding"]
        case .json, .jsonOrText, .text: names.append("Content-Encoding")
        case .nothing, .events: break
        }
        return names
    }

    /// References to those of every answer, and to `names` where `required` has no better. `isRead`: whether such an answer
    /// is only given to requests that were read.
    static func references(_ names: [String], required: JSONText?, isRead: Bool = true) -> JSONText {
        let known = Set((required?.members ?? []).map(\.key))
        let always = fields.filter(\.isAlways).map(\.name)
        let references = (always + names.filter { !known.contains($0) }).map { name in
            (key: name, value: !isRead && name == id ? unread : OpenAPICall.reference("headers", name))
        }
        return .object(members: (required?.members ?? []) + references)
    }

    private static let id = "X-Request-Id"
    private static let unread = JSONText.object([
        "description": "the id of the request; none if the request could not be read",
        "schema": .object(["type": "string"]),
    ])
}
