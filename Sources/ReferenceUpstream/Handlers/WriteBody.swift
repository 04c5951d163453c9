internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The fields in the body of a write, as the route's encoding has them.
struct WriteBody {
    let request: Request
    let route: PushRoute
    let entity: Entity

    /// Throws for another media type, another form, and for what is no JSON where that is asked for.
    func fields() throws(Refusal) -> JSONText {
        // Plain JSON needs no name.
        let type = request.headers[single: "Content-Type"]
        guard type == route.encoding.mediaType || route.encoding == .plain else {
            throw Refusal(status: 415, code: "media_type", message: "the body must be \(route.encoding.mediaType)")
        }
        switch route.encoding {
        // What stands around the fields may be a list of one.
        case .json, .mergePatch: return try enclosed(json(route.envelope == nil ? [.object] : [.object, .array]))
        case .form: return try enclosed(URLForm(request.body).members())
        case .jsonPatch: return try patched(json([.array]))
        }
    }

    /// What an update makes of the field of an object: a merge patch changes some of its members (RFC 7396).
    func value(_ patch: JSONText, over known: JSONText?) -> JSONText {
        guard route.encoding == .mergePatch, patch.kind == .object else { return patch }
        let before = known.flatMap { $0.kind == .object ? $0.members : nil } ?? []
        let kept = before.filter { patch[$0.key] == nil }
        let changed = patch.members.filter { $0.value.kind != .null }.map { name, member in
            (key: name, value: value(member, over: known?.kind == .object ? known?[name] : .none))
        }
        return .object(members: kept + changed)
    }

    private func json(_ kinds: [JSONText.Kind]) throws(Refusal) -> JSONText {
        let body: JSONText
        do {
            body = try JSONText(request.body)
        } catch {
            throw .malformed("\(error); send JSON")
        }
        guard kinds.contains(body.kind) else { throw .malformed("the body is no \(kinds[0])") }
        return body
    }

    private func enclosed(_ body: JSONText) throws(Refusal) -> JSONText {
        guard let envelope = route.envelope else { return body }
        guard let fields = envelope.hasFields ? envelope.fields(in: body) : envelope.values(in: body).map(named) else {
            throw .invalid("the body has not the form that this path takes")
        }
        return fields
    }

    /// The route's fields among the values in the body of an action.
    private func named(_ values: [String: JSONText]) -> JSONText {
        .object(members: (route.fields ?? []).compactMap { name in values[name].map { (key: name, value: $0) } })
    }

    /// Operations on whole fields only.
    private func patched(_ operations: JSONText) throws(Refusal) -> JSONText {
        var members: [(key: String, value: JSONText)] = []
        for operation in operations.elements {
            guard let word = operation["op"]?.string, ["add", "replace"].contains(word),
                let path = operation["path"]?.string, path.hasPrefix("/"), !path.dropFirst().contains("/"),
                let value = operation["value"]
            else { throw .invalid("expected operations add or replace with a path of one name, and a value") }
            let name = String(path.dropFirst()).replacing("~1", with: "/").replacing("~0", with: "~")
            members.append((name, value))
        }
        return .object(members: members)
    }

    /// The value of a field as the upstream keeps it. A form has texts only, and an empty one is null.
    func value(_ sent: JSONText, of field: String) -> JSONText {
        var value = sent
        if route.encoding == .form, let text = sent.string {
            value = text.isEmpty ? .null : entity.value(text, for: field)
        }
        guard entity[field: field]?.link == nil else { return entity.lift?.key(value, named: field) ?? value }
        return entity[field: field]?.onWire(value) ?? value
    }
}
