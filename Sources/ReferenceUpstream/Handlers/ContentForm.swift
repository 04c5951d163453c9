internal import EntitySchema
internal import JSONText
internal import SocketServer

/// A request that carries a record's content as a part of a form (`file` in the schema).
struct ContentForm {
    /// The other parts, under their names on the wire.
    let fields: JSONText
    let content: Store.Content

    init(_ request: Request, of entity: Entity, part: String, fields names: [String: String]?) throws(Refusal) {
        let parts = try MultipartParts(request).parts
        let files = parts.filter { $0.name == part }
        guard files.count == 1, let file = files.first, file.isFile else {
            throw Refusal(
                status: 422, code: "file_missing",
                message: "a form for \(entity.name) needs one file in the part \(part)")
        }
        var members: [(key: String, value: JSONText)] = []
        for other in parts where other.name != part {
            guard let text = String(validating: other.bytes, as: UTF8.self) else {
                throw .invalid("\(other.name) is not UTF-8")
            }
            members.append((other.name, entity.value(text, for: names?[other.name] ?? other.name)))
        }
        fields = .object(members: members)
        content = Store.Content(bytes: file.bytes, type: file.type ?? Content.unknownType)
        try Self.check(content, entity)
    }

    /// Throws for content that the entity does not accept.
    static func check(_ content: Store.Content, _ entity: Entity) throws(Refusal) {
        guard let plan = entity.content, plan.types.contains(content.type) else {
            throw Refusal(status: 415, code: "unsupported_type", message: "\(content.type) is not accepted here")
        }
        guard content.bytes.count <= plan.maximumSize else {
            throw Refusal(
                status: 413, code: "too_large", message: "at most \(plan.maximumSize) bytes are accepted here")
        }
    }
}
