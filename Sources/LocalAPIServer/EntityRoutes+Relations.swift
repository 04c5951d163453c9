internal import EntitySchema
internal import LocalAPI

/// The calls of an entity's relations.
extension EntityRoutes {
    func related(_ relation: Relation) -> [Route] {
        guard let other = schema[relation.entity] else { return [] }
        switch relation.kind {
        case .one(let field): return [record(relation, by: field, other)]
        case .many(let field, _):
            let list = list(relation, by: field, other)
            return other.operations.contains(.create) ? [list, creation(relation, by: field, other)] : [list]
        }
    }

    private func record(_ relation: Relation, by field: String, _ other: Entity) -> Route {
        route(
            "GET", .related, relation: relation, decidesMethods: false,
            reading(of: other, "The \(relation.name) of a record of \(entity.name), as its own address answers")
        ) { [entity] handlers, request, id in
            try await handlers.one(relation, by: field, of: entity, id, request)
        }
    }

    private func list(_ relation: Relation, by field: String, _ other: Entity) -> Route {
        route(
            "GET", .related, relation: relation, decidesMethods: false,
            OpenAPIOperation(
                "Lists the \(relation.name) of a record of \(entity.name)",
                parameters: listParameters(other) + ["cache_control"],
                answers: [(200, .list(RecordSchemas.list(other))), (304, .nothing)], problems: [404, 504],
                leads: Self.first(of: other))
        ) { [entity] handlers, request, id in
            try await handlers.list(relation, by: field, of: entity, id, request)
        }
    }

    private func creation(_ relation: Relation, by field: String, _ other: Entity) -> Route {
        route(
            "POST", .related, relation: relation, decidesMethods: false,
            creation(
                of: other, "Creates a record of \(other.name) that belongs to this one",
                RecordSchemas.new(other, without: field))
        ) { [entity] handlers, request, id in
            try await handlers.create(other, request, referring: field, to: id, of: entity)
        }
    }
}
