internal import EntitySchema
internal import JSONText

/// The calls that one entity has, by its schema.
struct EntityCalls {
    let schema: EntitySchema
    let entity: Entity

    var all: [OpenAPICall] { [list, one] + writes + [history] + entity.relations.flatMap(related) }

    /// The names of its component schemas.
    static func record(_ entity: Entity) -> String { "\(entity.name).record" }
    static func list(_ entity: Entity) -> String { "\(entity.name).list" }
    static func new(_ entity: Entity) -> String { "\(entity.name).new" }
    static func changes(_ entity: Entity) -> String { "\(entity.name).changes" }

    private var path: String { "/v1/\(entity.name)" }

    private var list: OpenAPICall {
        OpenAPICall(
            method: "GET", path: path, summary: "Lists \(entity.name)", parameters: Self.listParameters,
            own: FilterParameters(entity: entity).all,
            answers: [(200, .json(Self.list(entity))), (304, .nothing)])
    }

    private var one: OpenAPICall {
        OpenAPICall(
            method: "GET", path: "\(path)/{id}", summary: "One record of \(entity.name)",
            parameters: ["include", "refresh"] + (entity.fields.contains(where: \.secret) ? ["reveal"] : [])
                + ["if_none_match"],
            answers: [(200, .json(Self.record(entity))), (304, .nothing)], problems: [404, 502, 504])
    }

    private var writes: [OpenAPICall] {
        entity.operations.map { operation in
            switch operation {
            case .create: creation(at: path, "Creates a record of \(entity.name)", of: entity)
            case .update:
                OpenAPICall(
                    method: "PATCH", path: "\(path)/{id}", summary: "Changes the named fields; null sets null",
                    parameters: Self.writeParameters + ["if_match"], body: Self.changes(entity),
                    answers: [(200, .json(Self.record(entity))), (202, .json(Self.record(entity)))],
                    problems: [404, 405, 409, 412, 413, 415, 422])
            case .delete:
                OpenAPICall(
                    method: "DELETE", path: "\(path)/{id}", summary: "Gone here at once, its deletion queued",
                    parameters: Self.writeParameters + ["if_match"],
                    answers: [(204, .nothing), (202, .json("Pushing"))], problems: [404, 405, 409, 412, 422])
            }
        }
    }

    private var history: OpenAPICall {
        OpenAPICall(
            method: "GET", path: "\(path)/{id}/history", summary: "Why the record is as it is, oldest first",
            parameters: ["limit", "cursor"], answers: [(200, .json("History"))], problems: [404])
    }

    private func related(_ relation: Relation) -> [OpenAPICall] {
        guard let other = schema[relation.entity] else { return [] }
        let path = "\(path)/{id}/\(relation.name)"
        let list = OpenAPICall(
            method: "GET", path: path, summary: "Lists the \(relation.name) of a record of \(entity.name)",
            parameters: Self.listParameters, own: FilterParameters(entity: other).all,
            answers: [(200, .json(Self.list(other))), (304, .nothing)], problems: [404])
        guard case .many = relation.kind, other.operations.contains(.create) else { return [list] }
        return [list, creation(at: path, "Creates a record of \(other.name) that belongs to it", of: other)]
    }

    private func creation(at path: String, _ summary: String, of made: Entity) -> OpenAPICall {
        OpenAPICall(
            method: "POST", path: path, summary: summary, parameters: Self.writeParameters, body: Self.new(made),
            answers: [(201, .json(Self.record(made))), (202, .json(Self.record(made)))],
            problems: [404, 405, 409, 413, 415, 422])
    }

    private static let listParameters = [
        "limit", "cursor", "sort", "fields", "include", "sync", "count", "q", "if_none_match",
    ]
    private static let writeParameters = ["wait_for_push", "timeout", "idempotency_key"]
}

/// The parameters by which a list is filtered.
struct FilterParameters {
    let entity: Entity

    var all: [JSONText] { fields.map(parameter) + [comparisons] }

    private var fields: [Field] {
        entity.fields.filter { field in
            switch field.kind {
            case .object, .list: false
            default: !field.secret
            }
        }
    }

    private func parameter(_ field: Field) -> JSONText {
        var note = "records with this value, or any of several with commas"
        if case .enum(let values) = field.kind { note += ": \(values.map(\.value).joined(separator: ", "))" }
        if !field.indexed && field.name != entity.key { note += "; there is no index, the whole table is read" }
        return .object([
            "name": .string(field.name), "in": "query", "description": .string(note),
            "schema": .object(["type": "string"]),
        ])
    }

    private var comparisons: JSONText {
        let names = fields.map(\.name).joined(separator: "|")
        let pattern = "^(\(names))\\.(gt|gte|lt|lte|ne|null)$"
        return .object([
            "name": "comparisons", "in": "query", "style": "form", "explode": true,
            "description": "field.gt=, .gte=, .lt=, .lte=, .ne= with a value; field.null= with true or false",
            "schema": .object([
                "type": "object", "propertyNames": .object(["pattern": .string(pattern)]),
                "additionalProperties": .object(["type": "string"]),
            ]),
        ])
    }
}
