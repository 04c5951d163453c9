internal import EntitySchema
internal import JSONText
internal import Pictures

/// The calls that one entity has, by its schema.
struct EntityCalls {
    let schema: EntitySchema
    let entity: Entity

    var all: [OpenAPICall] { [list, one] + writes + [history] + content + entity.relations.flatMap(related) }

    /// The names of its component schemas.
    static func record(_ entity: Entity) -> String { "\(entity.name).record" }
    static func list(_ entity: Entity) -> String { "\(entity.name).list" }
    static func new(_ entity: Entity) -> String { "\(entity.name).new" }
    static func new(_ entity: Entity, without field: String) -> String { "\(entity.name).new.without_\(field)" }
    static func changes(_ entity: Entity) -> String { "\(entity.name).changes" }

    private var path: String { "/v1/\(entity.name)" }

    private var list: OpenAPICall {
        OpenAPICall(
            method: "GET", path: path, summary: "Lists \(entity.name)", parameters: listParameters(entity),
            answers: [(200, .json(Self.list(entity))), (304, .nothing)], leads: Self.first(of: entity))
    }

    private var one: OpenAPICall {
        OpenAPICall(
            method: "GET", path: "\(path)/{id}", summary: "One record of \(entity.name)",
            parameters: EntityParameters(schema: schema, entity: entity).ofOne + ["refresh", "if_none_match"],
            answers: [(200, .json(Self.record(entity))), (304, .nothing)], problems: [404, 502, 504])
    }

    private var writes: [OpenAPICall] {
        entity.operations.map { operation in
            switch operation {
            case .create: creation(at: path, "Creates a record of \(entity.name)", of: entity, Self.new(entity))
            case .update:
                OpenAPICall(
                    method: "PATCH", path: "\(path)/{id}", summary: "Changes the named fields; null sets null",
                    parameters: Self.writeParameters + ["if_match"], body: Self.changes(entity),
                    answers: [(200, .json(Self.record(entity))), (202, .json(Self.record(entity)))],
                    problems: [404, 405, 409, 410, 412, 422])
            case .delete:
                OpenAPICall(
                    method: "DELETE", path: "\(path)/{id}", summary: "Gone here at once, its deletion queued",
                    parameters: Self.writeParameters + ["if_match"],
                    answers: [(204, .nothing), (202, .json("Pushing"))], problems: [404, 405, 409, 410, 412, 422])
            }
        }
    }

    private var history: OpenAPICall {
        OpenAPICall(
            method: "GET", path: "\(path)/{id}/history", summary: "Why the record is as it is, oldest first",
            parameters: ["limit", "position"], answers: [(200, .json("History"))], problems: [404])
    }

    private var content: [OpenAPICall] {
        guard let plan = entity.content else { return [] }
        let address = "\(path)/{id}/content"
        var calls = [
            OpenAPICall(
                method: "GET", path: address, summary: "What the record has besides its fields; takes Range",
                parameters: ["refresh", "if_none_match"],
                answers: [(200, .bytes(plan.types)), (206, .bytes(plan.types)), (304, .nothing)],
                problems: [404, 502, 504]),
            OpenAPICall(
                method: "GET", path: "\(path)/{id}/thumbnail", summary: "A picture made small",
                parameters: ["refresh", "if_none_match", "thumbnail_size"],
                answers: [(200, .bytes(["image/jpeg", "image/png"])), (304, .nothing)], problems: [404, 422, 502, 504]),
        ]
        if plan.upload != nil {
            calls.append(
                OpenAPICall(
                    method: "PUT", path: address, summary: "Replaces it, its upload queued", bodyTypes: plan.types,
                    answers: [(200, .json(Self.record(entity)))], problems: [404, 405, 413, 415, 422]))
        }
        if plan.delete != nil {
            calls.append(
                OpenAPICall(
                    method: "DELETE", path: address, summary: "Gone here at once, its deletion queued",
                    answers: [(204, .nothing)], problems: [404, 405, 422]))
        }
        return calls
    }

    private func related(_ relation: Relation) -> [OpenAPICall] {
        guard let other = schema[relation.entity] else { return [] }
        let path = "\(path)/{id}/\(relation.name)"
        let list = OpenAPICall(
            method: "GET", path: path, summary: "Lists the \(relation.name) of a record of \(entity.name)",
            parameters: listParameters(other),
            answers: [(200, .json(Self.list(other))), (304, .nothing)], problems: [404], leads: Self.first(of: other))
        guard case .many(let field, _) = relation.kind, other.operations.contains(.create) else { return [list] }
        let summary = "Creates a record of \(other.name) that belongs to it"
        return [list, creation(at: path, summary, of: other, Self.new(other, without: field))]
    }

    private func creation(at path: String, _ summary: String, of made: Entity, _ body: String) -> OpenAPICall {
        OpenAPICall(
            method: "POST", path: path, summary: summary, parameters: Self.writeParameters, body: body,
            answers: [(201, .json(Self.record(made))), (202, .json(Self.record(made)))],
            problems: [404, 405, 409, 410, 422], leads: ("/v1/\(made.name)", "/\(made.key)"))
    }

    private static func first(of entity: Entity) -> (to: String, key: String) {
        ("/v1/\(entity.name)", "/data/0/\(entity.key)")
    }

    private func listParameters(_ entity: Entity) -> [String] {
        ["limit", "cursor", "sync", "count", "if_none_match"] + (entity.isSearched ? ["q"] : [])
            + EntityParameters(schema: schema, entity: entity).ofLists
    }
    private static let writeParameters = ["wait_for_push", "timeout", "idempotency_key"]
}

extension Entity {
    /// Whether a search finds anything of it.
    var isSearched: Bool { fields.contains { $0.search != nil && !$0.secret } }
}
