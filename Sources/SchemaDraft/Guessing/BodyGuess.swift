/// Which fields the body of a change has, and what stands around them.
struct BodyGuess {
    let shapes: ShapeReader
    let fields: [DraftField]

    struct Found {
        var body = DraftRoute.Body.plain
        /// Members that hold fields.
        var members: DataShape
        /// Nil if the document does not say which fields it takes.
        var fields: [DraftField]?
        var encoding: String?
        /// Names of relationships of JSON:API that it takes.
        var required: Set<String>
    }

    /// What keeps a call from being used, for a comment.
    struct Problem: Error {
        var reason: String
    }

    func found(in operation: APIOperation) throws(Problem) -> Found {
        guard !operation.bodies.isEmpty else { throw Problem(reason: "the document describes no body for it") }
        let body = try chosen(operation.bodies)
        var found = Found(members: body.shape, required: body.shape.required)
        found.encoding = try encoding(body, operation)
        if found.encoding == Self.jsonPatch {
            found.fields = nil
            return found
        }
        if body.shape.isList { throw Problem(reason: "its body is a list of records, and one change is one record") }
        let sent = sent(body.shape)
        if !sent.isEmpty || body.shape.properties.isEmpty {
            found.fields = body.shape.properties.isEmpty ? nil : sent
            return found
        }
        return try inside(body.shape, found)
    }

    static let jsonPatch = "application/json-patch+json"
    static let mergePatch = "application/merge-patch+json"

    // MARK: Media types

    private func chosen(_ bodies: [APIOperation.Body]) throws(Problem) -> APIOperation.Body {
        let types = [Self.mergePatch, "application/json", "application/vnd.api+json"]
        for type in types {
            if let found = bodies.first(where: { $0.mediaType == type }) { return found }
        }
        if let found = bodies.first(where: { $0.isJSON && $0.mediaType != Self.jsonPatch }) ?? bodies.first(
            where: \.isJSON)
            ?? bodies.first(where: { $0.mediaType == "application/x-www-form-urlencoded" })
        {
            return found
        }
        throw Problem(
            reason: "it takes \(bodies[0].mediaType), which is no change of fields: see content in docs/schema.md")
    }

    private func encoding(_ body: APIOperation.Body, _ operation: APIOperation) throws(Problem) -> String? {
        let isOperations = body.shape.isList && shapes.elements(of: body.shape)["op"] != nil
        if body.mediaType == Self.jsonPatch || isOperations {
            guard operation.method == "PATCH" else {
                throw Problem(reason: "it takes a JSON patch, which only a PATCH sends")
            }
            return Self.jsonPatch
        }
        switch body.mediaType {
        case "application/json", "*/*": return nil
        case "application/x-www-form-urlencoded": return "form"
        case Self.mergePatch: return operation.method == "PATCH" ? Self.mergePatch : nil
        case let type where type.hasPrefix("application/") && type.hasSuffix("+json"):
            return type.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? type : nil
        default: return nil
        }
    }

    // MARK: Members

    /// The fields that a body has under the names of the upstream.
    private func sent(_ shape: DataShape, at place: String? = nil) -> [DraftField] {
        shape.properties.compactMap { property in
            if shapes.shape(of: property).isReadOnly { return nil }
            return fields.first { field in
                guard field.wireName == property.name else { return false }
                guard let place else { return field.from == nil || !(field.from ?? "").contains(".") }
                return field.from == "\(place).\(property.name)" || field.from == "\(place).\"\(property.name)\""
            }
        }
    }

    /// `{"order": {…}}`, or a resource of JSON:API.
    private func inside(_ shape: DataShape, _ known: Found) throws(Problem) -> Found {
        var found = known
        for property in shape.properties.prefix(10) {
            let inner = shapes.shape(of: property)
            guard inner.kind == .object else { continue }
            if property.name == "data", let attributes = inner["attributes"] {
                let members = shapes.shape(of: attributes)
                let sent = sent(members, at: "attributes")
                guard !sent.isEmpty else { continue }
                found.body = .resource(type: type(of: inner), hasID: inner["id"] != nil)
                (found.fields, found.members, found.required) = (sent, members, members.required)
                return found
            }
            let sent = sent(inner)
            let others = shape.required.subtracting([property.name])
            guard !sent.isEmpty, others.isEmpty else { continue }
            found.body = .inside(property.name)
            (found.fields, found.members, found.required) = (sent, inner, inner.required)
            return found
        }
        let names = shape.properties.prefix(5).map(\.name).joined(separator: ", ")
        throw Problem(reason: "its body (\(names)) has none of the record's fields")
    }

    private func type(of resource: DataShape) -> String {
        guard let property = resource["type"] else { return "" }
        let shape = shapes.shape(of: property)
        return shape.enumValues.first?.value ?? shape.initial ?? shape.example?.text ?? ""
    }
}
