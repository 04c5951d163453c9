internal import CacheStore
internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// The calls of one entity, by its schema.
struct EntityRoutes {
    let schema: EntitySchema
    let entity: Entity

    var all: [Route] { [list, one] + writes + [history] + content + entity.relations.flatMap(related) }

    // MARK: Records

    private var list: Route {
        var route = route(
            "GET", .records,
            OpenAPIOperation(
                "Lists \(entity.name)", parameters: listParameters(entity),
                answers: [(200, .list(RecordSchemas.list(entity))), (304, .nothing)], leads: Self.first(of: entity))
        ) { [entity] handlers, request, _ in try await handlers.list(entity, request) }
        route.reader = { [entity] handlers, request, _ in try handlers.cachedList(entity, request) }
        return route
    }

    private var one: Route {
        var route = route("GET", .record, reading(of: entity, "One record of \(entity.name)")) {
            [entity] handlers, request, id in try await handlers.one(entity, id, request)
        }
        route.reader = { [entity] handlers, request, id in try handlers.cached(entity, id, request) }
        return route
    }

    private var writes: [Route] {
        let canSave = entity.operations.contains(.create) && entity.operations.contains(.update)
        return entity.operations.map(write) + (canSave ? [save] : [])
    }

    private var save: Route {
        route(
            "PUT", .record,
            OpenAPIOperation(
                "Creates the record under this key, or makes it what the body says",
                parameters: Self.writeParameters + Self.conditions,
                body: RecordSchemas.new(entity, without: entity.key),
                answers: [200, 201, 202].map { ($0, .json(RecordSchemas.record(entity))) },
                problems: [405, 409, 410, 412, 422])
        ) { [entity] handlers, request, id in try await handlers.replace(entity, id, request) }
    }

    private func write(_ operation: Operation) -> Route {
        switch operation {
        case .create:
            route(
                "POST", .records,
                creation(of: entity, "Creates a record of \(entity.name)", RecordSchemas.new(entity))
            ) { [entity] handlers, request, _ in try await handlers.create(entity, request) }
        case .update:
            route(
                "PATCH", .record,
                OpenAPIOperation(
                    "Changes the given fields; null sets null",
                    parameters: Self.writeParameters + Self.conditions, body: RecordSchemas.changes(entity),
                    takesMergePatch: true,
                    answers: [200, 202].map { ($0, .json(RecordSchemas.record(entity))) },
                    problems: [404, 405, 409, 410, 412, 422])
            ) { [entity] handlers, request, id in try await handlers.update(entity, id, request) }
        case .delete:
            route(
                "DELETE", .record,
                OpenAPIOperation(
                    "Deletes the record locally at once and queues its deletion",
                    parameters: Self.writeParameters + Self.conditions,
                    answers: [(204, .nothing), (202, .json("Pushing"))], problems: [404, 405, 409, 410, 412, 422])
            ) { [entity] handlers, request, id in try await handlers.delete(entity, id, request) }
        }
    }

    private var history: Route {
        route(
            "GET", .history, decidesMethods: false,
            OpenAPIOperation(
                "The history of a record, oldest first", parameters: ["limit", "position", "cache_control"],
                answers: [(200, .json("History"))], problems: [404, 504])
        ) { [entity] handlers, request, id in try await handlers.history(of: entity, id, request) }
    }

    // MARK: Content

    private var content: [Route] {
        guard let plan = entity.content else { return [] }
        var routes = [download(plan), thumbnail]
        if plan.upload != nil || entity.isCreatedWithContent { routes.append(upload(plan)) }
        if plan.delete != nil {
            routes.append(
                route(
                    "DELETE", .content,
                    OpenAPIOperation(
                        "Deletes the content locally at once and queues its deletion", parameters: Self.conditions,
                        answers: [(204, .nothing)], problems: [404, 405, 412, 422])
                ) { [entity] handlers, request, id in try await handlers.deleteContent(of: entity, id, request) })
        }
        return routes
    }

    private func download(_ plan: ContentPlan) -> Route {
        route(
            "GET", .content,
            OpenAPIOperation(
                "The content of a record; supports Range", parameters: ["refresh", "cache_control", "if_none_match"],
                answers: [(200, .bytes(plan.types)), (206, .bytes(plan.types)), (304, .nothing)],
                problems: [404, 502, 504])
        ) { [entity] handlers, request, id in try await handlers.content(of: entity, id, request) }
    }

    private var thumbnail: Route {
        route(
            "GET", .thumbnail, decidesMethods: false,
            OpenAPIOperation(
                "A thumbnail of the content",
                parameters: ["refresh", "cache_control", "if_none_match", "thumbnail_size"],
                answers: [(200, .bytes(["image/jpeg", "image/png"])), (304, .nothing)], problems: [404, 422, 502, 504])
        ) { [entity] handlers, request, id in try await handlers.thumbnail(of: entity, id, request) }
    }

    private func upload(_ plan: ContentPlan) -> Route {
        var route = route(
            "PUT", .content,
            OpenAPIOperation(
                "Replaces the content and queues its upload", parameters: Self.conditions, bodyTypes: plan.types,
                answers: [(200, .json(RecordSchemas.record(entity)))], problems: [404, 405, 409, 412, 413, 415, 422])
        ) { [entity] handlers, request, id in try await handlers.putContent(of: entity, id, request) }
        route.streamLimit = plan.maximumSize
        return route
    }

    // MARK: Parts

    /// `decidesMethods`: whether the entity's schema decides which methods the address has.
    func route(
        _ method: String, _ template: PathTemplate, relation: Relation? = nil, decidesMethods: Bool = true,
        _ operation: OpenAPIOperation, _ handler: @escaping Route.Handler
    ) -> Route {
        let path = template.text.replacing("{entity}", with: entity.name)
            .replacing("{relation}", with: relation?.name ?? "")
        return Route(
            method: method, template: template, path: path, entity: decidesMethods ? entity.name : nil,
            operation: operation, key: method == "GET" || template == .content ? key : nil, handler: handler)
    }

    /// Finds the record by a natural key too. Writes to records do that themselves (`RecordWrite`).
    private var key: Route.Key? {
        guard !entity.naturalFields.isEmpty else { return nil }
        return { [entity] handlers, id in try handlers.store.key(of: entity, id) }
    }

    func reading(of entity: Entity, _ summary: String) -> OpenAPIOperation {
        OpenAPIOperation(
            summary,
            parameters: EntityParameters(schema: schema, entity: entity).ofOne
                + ["labels", "server", "refresh", "cache_control", "if_none_match", "prefer_wait"],
            answers: [(200, .json(RecordSchemas.record(entity))), (304, .nothing)], problems: [404, 502, 504])
    }

    func creation(of made: Entity, _ summary: String, _ body: String) -> OpenAPIOperation {
        OpenAPIOperation(
            summary, parameters: Self.writeParameters, body: body,
            answers: [201, 202].map { ($0, .json(RecordSchemas.record(made))) },
            problems: [404, 405, 409, 410, 422], leads: ("/v1/\(made.name)", "/\(made.key)"))
    }

    static func first(of entity: Entity) -> (to: String, key: String) {
        ("/v1/\(entity.name)", "/data/0/\(entity.key)")
    }

    func listParameters(_ entity: Entity) -> [String] {
        ["limit_of_list", "cursor", "sync", "count", "labels", "if_none_match"] + (entity.isSearched ? ["q"] : [])
            + EntityParameters(schema: schema, entity: entity).ofLists
    }

    private static let conditions = ["if_match", "if_none_match_of_write"]

    private static let writeParameters = ["wait_for_push", "timeout", "idempotency_key"]
}
