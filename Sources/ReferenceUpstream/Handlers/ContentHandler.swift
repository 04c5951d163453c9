internal import CZlib
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Serves and stores the content of records, as the schema's `content` describes it.
struct ContentHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    /// The uploaded content; without one, a generated picture if the record names an address.
    func content(of name: String, _ placeholders: [String: String], _ store: Store) throws(Refusal) -> Answer {
        let (entity, key, record) = try record(name, placeholders, store)
        if let kept = store.contents[entity.name]?[key] {
            return Answer(status: 200, headers: [("Content-Type", kept.type)], body: kept.bytes)
        }
        let isAtPath = entity.content?.path != nil && entity.content?.delete == nil
        let address = entity.content?.address.flatMap { record[$0] } ?? .null
        guard isAtPath || address != .null else { throw .notFound("content of \(name)/\(key)") }
        return Answer(status: 200, headers: [("Content-Type", "image/png")], body: DrawnPicture(seed: key).png)
    }

    func upload(to name: String, _ route: PushRoute, _ placeholders: [String: String], _ store: inout Store)
        throws(Refusal)
        -> Answer
    {
        let (entity, key, _) = try record(name, placeholders, store)
        let content = try content(of: entity, route)
        store.contents[entity.name, default: [:]][key] = content
        let version = crc32(0, content.bytes, uInt(content.bytes.count))
        return try noted(
            entity, key, address: .string("\(request.path)?v=\(String(version, radix: 16))"), state: .uploaded,
            route, &store)
    }

    private func content(of entity: Entity, _ route: PushRoute) throws(Refusal) -> Store.Content {
        if let part = route.file {
            return try ContentForm(request, of: entity, part: part, fields: nil).content
        }
        let content = Store.Content(bytes: request.body, type: request.headers[single: "Content-Type"] ?? "")
        try ContentForm.check(content, entity)
        return content
    }

    func delete(from name: String, _ route: PushRoute, _ placeholders: [String: String], _ store: inout Store)
        throws(Refusal)
        -> Answer
    {
        let (entity, key, _) = try record(name, placeholders, store)
        store.contents[entity.name]?[key] = nil
        return try noted(entity, key, address: .null, state: nil, route, &store)
    }

    /// Updates the record's address and state of its content, and responds with the record.
    private func noted(
        _ entity: Entity, _ key: String, address: JSONText, state: ContentState?, _ route: PushRoute,
        _ store: inout Store
    ) throws(Refusal) -> Answer {
        var changes = JSONText.object([:])
        if let field = entity.content?.address { changes = changes.setting(field, to: address) }
        if let field = entity.content?.state, let state {
            changes = changes.setting(field, to: .string(state.rawValue))
        }
        let record = try store.update(entity, key: key, with: changes, at: now)
        let shown = entity.lift?.placed(record) ?? record
        var answer = handler.tagged(.json(200, handler.envelope.record(shown, at: route.record)), record)
        answer.applied = true
        return answer
    }

    private func record(
        _ name: String, _ placeholders: [String: String], _ store: Store
    ) throws(Refusal) -> (Entity, key: String, JSONText) {
        guard let entity = handler.schema[name],
            let record = store.find(entity, where: placeholders.map { (name: $0.key, value: $0.value) })
        else { throw .notFound("record \(placeholders.values.first ?? "") in \(name)") }
        return (entity, record[entity.key]?.plain ?? "", record)
    }
}
