/// Which fields the body of a change has, and what stands around them.
struct BodyGuess {
    let shapes: ShapeReader
    let fields: [DraftField]

    struct Found {
        var body = DraftRoute.Body.plain
        /// It takes a list of records.
        var isInList = false
        /// Nil if the document does not say which fields it takes.
        var fields: [DraftField]?
        var encoding: String?
        /// The object that has the fields; nil if the document does not say.
        var members: DataShape?
        /// What stands beside the fields.
        var beside: [DraftRoute.Constant] = []
        /// The members that the fields' object must have.
        var required: Set<String>
        /// Those that may be null, or that the upstream fills in.
        var spared: Set<String> = []
        /// The members of the fields' object that no field sends.
        var unsent: [String] = []
    }

    /// What keeps a call from being used, for a comment.
    struct Problem: Error {
        var reason: String
    }

    func found(in operation: APIOperation) throws(Problem) -> Found {
        guard !operation.bodies.isEmpty else { throw Problem(reason: "the document describes no body for it") }
        let body = try chosen(operation.bodies)
        var found = Found(required: body.shape.required)
        found.encoding = try encoding(body, operation)
        if found.encoding == Self.jsonPatch {
            found.fields = nil
            return found
        }
        let shape = body.shape.isList ? shapes.elements(of: body.shape) : body.shape
        if shape.properties.isEmpty {
            if body.shape.isList { throw Problem(reason: "its body is a list, and the document does not say of what") }
            found.fields = nil
            return found
        }
        let parts = body.shape.isList ? [] : shape.properties.prefix(10).compactMap(part)
        let whole = Part(
            name: nil, body: .plain, members: shape, fields: sent(shape), isList: body.shape.isList)
        let best = parts.reduce(whole) { $1.fields.count > $0.fields.count ? $1 : $0 }
        try check(best, in: shape, of: operation)
        if body.isShown, best.name == nil, best.fields.count < Self.fewest {
            found.fields = nil
            return found
        }
        (found.body, found.fields, found.isInList) = (best.body, best.fields, best.isList)
        found.members = best.members
        found.required = best.members.required
        found.spared = Set(
            best.members.properties.filter { property in
                let shape = shapes.shape(of: property)
                return shape.isNullable || shape.initial != nil
            }.map(\.name))
        found.unsent = unsent(best)
        found.beside = beside(shape)
        return found
    }

    /// A part of a body that may be the record.
    private struct Part {
        /// The member of the body; nil for all of it.
        var name: String?
        var body: DraftRoute.Body
        var members: DataShape
        var fields: [DraftField]
        var isList = false
    }

    /// An example with fewer fields shows one change, not all that can be changed.
    private static let fewest = 3

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
            reason: "it takes \(bodies[0].mediaType), which is not a change of fields: see docs/schema/push.md#content")
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

    /// The fields that a body has under the names of the upstream, each once.
    private func sent(_ shape: DataShape, at place: String? = nil) -> [DraftField] {
        var names: Set<String> = []
        return all(shape, at: place).filter { names.insert($0.name).inserted }
    }

    private func all(_ shape: DataShape, at place: String?) -> [DraftField] {
        shape.properties.compactMap { property in
            let wanted = shapes.shape(of: property)
            if wanted.isReadOnly || Self.constant(property.name, wanted) == Self.key { return nil }
            let isNeeded = shape.required.contains(property.name) && wanted.initial == nil
            let fitting = fields.filter {
                isThere($0, at: place) && fits($0, wanted) && (isNeeded || !ServerTime.isMade($0))
            }
            let same = fitting.filter { $0.wireName == property.name }
            // Beside a resource's attributes, its own type is another one.
            let inner = shape["attributes"] == nil ? same.first { $0.from?.hasPrefix("attributes.") == true } : nil
            if let field = inner ?? same.first { return field }
            if place == nil, let field = ShownKey(shapes: shapes).field(property.name, wanted, among: fields) {
                return field
            }
            // `FriendlyName` is sent where `friendly_name` is read.
            let folded = Words.folded(property.name)
            guard var field = fitting.first(where: { Words.folded($0.wireName) == folded }),
                shape[field.wireName] == nil
            else { return nil }
            field.wireName = property.name
            return field
        }
    }

    /// Whether a record has the field at that place; what it reads from its attributes may be sent beside each other.
    private func isThere(_ field: DraftField, at place: String?) -> Bool {
        let inner = ["\(place ?? "attributes").\(field.wireName)", "\(place ?? "attributes").\"\(field.wireName)\""]
        if let from = field.from, inner.contains(from) { return true }
        return place == nil && (field.from == nil || !(field.from ?? "").contains("."))
    }

    /// Whether the body takes what the record has: an id in the place of an object is something else, and so is an
    /// address in the place of a link to one.
    private func fits(_ field: DraftField, _ wanted: DataShape) -> Bool {
        let names = (wanted.isList ? shapes.elements(of: wanted) : wanted).memberNames
        if !names.isEmpty, !field.members.isEmpty, field.members.isDisjoint(with: names) { return false }
        // One of several kinds.
        if field.kind == .simple("list"), !wanted.items.isEmpty, !wanted.isList { return true }
        if field.kind == .simple("object"), !wanted.properties.isEmpty { return true }
        switch wanted.kind {
        case .unknown: return true
        case .object: return field.kind == .simple("object")
        case .array:
            let kind = shapes.elements(of: wanted).kind
            return field.kind == .simple("list") && (kind == .unknown || field.hasObjects == (kind == .object))
        default: return ![.simple("object"), .simple("list")].contains(field.kind)
        }
    }

    // MARK: Parts

    /// `{"order": {…}}`, a resource of JSON:API, or a list of records; nil for a member of the record itself.
    private func part(_ property: DataShape.Property) -> Part? {
        let shape = shapes.shape(of: property)
        if property.name == "data", let attributes = shape["attributes"] {
            let members = shapes.shape(of: attributes)
            return Part(
                name: "data", body: .resource(type: type(of: shape), hasID: shape["id"] != nil), members: members,
                fields: sent(members, at: "attributes"))
        }
        guard !fields.contains(where: { $0.wireName == property.name }) else { return nil }
        let members = shape.isList ? shapes.elements(of: shape) : shape
        guard members.kind == .object else { return nil }
        return Part(
            name: property.name, body: .inside(property.name), members: members, fields: sent(members),
            isList: shape.isList)
    }

    private func check(_ part: Part, in shape: DataShape, of operation: APIOperation) throws(Problem) {
        guard !part.fields.isEmpty else {
            let names = shape.properties.prefix(5).map(\.name).joined(separator: ", ")
            throw Problem(reason: "its body (\(names)) has none of the record's fields")
        }
        if part.isList, operation.method == "PUT", !operation.isCreation || !operation.isOnlyCreation {
            throw Problem(reason: "its body has a list of records, which may take the place of all")
        }
        if let name = part.name {
            let known = beside(shape).map(\.name)
            if let other = shape.required.subtracting([name]).subtracting(known).min() {
                throw Problem(reason: "its body needs \(other) beside \(name)")
            }
        }
        let unfit = part.members.required.sorted().first { name in
            !part.fields.contains { $0.wireName == name } && fields.contains { $0.wireName == name }
                && part.members[name].map { shapes.shape(of: $0).isReadOnly || fits(name, shapes.shape(of: $0)) }
                    == false
        }
        if let unfit { throw Problem(reason: "its body needs \(unfit), which is something else in the record") }
    }

    /// What an update that replaces the record leaves out, and so may clear.
    private func unsent(_ part: Part) -> [String] {
        let known = Set(part.fields.map(\.wireName))
        return part.members.properties.filter { property in
            let shape = shapes.shape(of: property)
            guard !known.contains(property.name), !shape.isReadOnly else { return false }
            let own = fields.first { $0.wireName == property.name }
            return Self.constant(property.name, shape) == nil && own.map(ServerTime.isMade) != true
        }.map(\.name)
    }

    private func fits(_ name: String, _ wanted: DataShape) -> Bool {
        fields.contains { $0.wireName == name && fits($0, wanted) }
    }

    // MARK: Constants

    /// The change's idempotency key.
    static let key = "{$key}"

    /// What a required member always is; nil for others.
    static func constant(_ name: String, _ shape: DataShape) -> String? {
        if Words.folded(name) == "idempotencykey" { return key }
        guard shape.kind == .string, shape.enumValues.count == 1, let only = shape.enumValues.first?.value,
            !only.isEmpty, !only.contains("{"), !only.contains("$")
        else { return nil }
        return only
    }

    private func beside(_ shape: DataShape) -> [DraftRoute.Constant] {
        shape.properties.compactMap { property in
            let inner = shapes.shape(of: property)
            // An upstream that takes an idempotency key recognises a repeat by it, even if it does not require one.
            guard !inner.isReadOnly, let value = Self.constant(property.name, inner),
                value == Self.key || shape.required.contains(property.name)
            else { return nil }
            return DraftRoute.Constant(name: property.name, value: value)
        }
    }

    private func type(of resource: DataShape) -> String {
        guard let property = resource["type"] else { return "" }
        let shape = shapes.shape(of: property)
        return shape.enumValues.first?.value ?? shape.initial ?? shape.example?.text ?? ""
    }
}
