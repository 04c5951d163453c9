package import JSONText

/// How the fields of a change become the body of a request.
package enum BodyEncoding: Sendable, Equatable {
    /// JSON under this media type, such as `application/vnd.api+json`.
    case json(type: String)
    /// As forms of HTML are sent; `[name]` and `[]` after a name for members and elements.
    case form
    /// RFC 7396: the members of an object are changed one by one, and null removes one.
    case mergePatch
    /// RFC 6902: a list of operations, one for each field.
    case jsonPatch

    package static let plain = BodyEncoding.json(type: "application/json")

    package var mediaType: String {
        switch self {
        case .json(let type): type
        case .form: "application/x-www-form-urlencoded"
        case .mergePatch: "application/merge-patch+json"
        case .jsonPatch: "application/json-patch+json"
        }
    }

    /// The body as it is sent; nil for a form, which is no JSON.
    package func json(_ body: JSONText) -> JSONText? {
        switch self {
        case .json, .mergePatch: return body
        case .form: return .none
        case .jsonPatch:
            // "add" also replaces a member that is there (RFC 6902, 4.1).
            return .array(
                body.members.map { name, value in
                    .object(members: [("op", "add"), ("path", .string("/\(Self.escaped(name))")), ("value", value)])
                })
        }
    }

    /// RFC 6901, 3.
    private static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    /// What to send for a field with an object, so that it has `value` afterwards though members are merged (RFC 7396).
    static func mergePatch(from known: JSONText?, to value: JSONText) -> JSONText {
        guard value.kind == .object, let known, known.kind == .object else { return value }
        let changed = value.members.map { name, member in (key: name, value: mergePatch(from: known[name], to: member))
        }
        let removed = known.members.filter { value[$0.key] == nil }.map { (key: $0.key, value: JSONText.null) }
        return .object(members: changed + removed)
    }
}
