internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// Every call of the API for one schema, in the order of the OpenAPI document.
///
/// A new call needs its address in `PathTemplate` and a line here: dispatch, `Allow`, the OpenAPI document and the metric
/// labels all come from this table.
struct RouteTable: Sendable {
    let routes: [Route]

    init(_ schema: EntitySchema) {
        let names = ParameterComponents(schema: schema).queryNames()
        let routes =
            Self.daemon + Self.page + Self.schema + Self.syncing + Self.queue + Self.conflicts + Self.watching
            + Self.reminders + Self.hooks + [Self.batch]
            + [Self.dashboard(isDocumented: schema.dashboard != nil)]
            + schema.entities.flatMap { EntityRoutes(schema: schema, entity: $0).all }
        var operationNames = OperationNames()
        self.routes = routes.map { route in
            var route = route
            route.name = operationNames.name(of: route)
            route.shape = route.operation.shape(names)
            route.shape.checksConditions = route.isRead || route.operation.parameters.contains("if_match")
            return route
        }
    }

    /// The calls of the OpenAPI document.
    var calls: [OpenAPICall] { routes.filter(\.isDocumented).map(\.call) }

    // MARK: The daemon

    private static let daemon: [Route] = [
        .fixed(
            "GET", .alive, "checkHealth", access: .anyone,
            OpenAPIOperation("Reports that the daemon runs; needs no token", answers: [(200, .text("text/plain"))])
        ) { _, _, _ in .text("alive\n") },
        .fixed(
            "GET", .ready, "checkReadiness",
            OpenAPIOperation(
                "Reports that the daemon can answer, even if the upstream is unreachable",
                answers: [(200, .text("text/plain"))])
        ) { handlers, _, _ in try handlers.ready() },
        .fixed(
            "GET", .metrics, "getMetrics",
            OpenAPIOperation("Metrics for Prometheus", answers: [(200, .text("text/plain"))])
        ) { handlers, _, _ in try await handlers.metricsText() },
        .fixed(
            "GET", .openAPI, "getDescription", OpenAPIOperation("This document", answers: [(200, .json("OpenAPI"))])
        ) { handlers, _, _ in try handlers.openAPI() },
        .fixed(
            "GET", .statusPage, "getPage",
            OpenAPIOperation(
                "The page for people", answers: [(200, .text("text/html")), (401, .text("text/html"))])
        ) { handlers, request, _ in try await handlers.statusPage(request) },
        .fixed(
            "POST", .session, "beginSession", access: .anyone,
            OpenAPIOperation(
                "Begins a session: the token in the body, a cookie in the answer; for the page at /",
                body: "SessionRequest", answers: [(204, .nothing)], problems: [401, 429])
        ) { handlers, request, _ in try handlers.beginSession(request) },
        .fixed(
            "DELETE", .session, "endSession", access: .anyone,
            OpenAPIOperation("Ends the session that the cookie names", answers: [(204, .nothing)])
        ) { handlers, request, _ in try handlers.endSession(request) },
    ]

    private static let page = PageFile.all.map { file in
        Route(
            method: "GET", template: .pageFile, path: file.path, access: .anyone, isDocumented: false,
            operation: OpenAPIOperation("A file of the page", parameters: ["if_none_match"], answers: []),
            handler: { _, request, _ in file.response(to: request) })
    }

    // MARK: The schema

    private static let schema: [Route] = [
        .fixed(
            "GET", .index, "getIndex",
            OpenAPIOperation(
                "What there is: entities, calls, this description and the manual", parameters: ["if_none_match"],
                answers: [(200, .json("Index")), (304, .nothing)])
        ) { handlers, request, _ in try handlers.index(request) },
        .fixed(
            "GET", .schema, "getSchema",
            OpenAPIOperation(
                "The schema: entities, fields, relations and what can be written", parameters: ["if_none_match"],
                answers: [(200, .json("Schema")), (304, .nothing)])
        ) { handlers, request, _ in try handlers.schemaDescription(request) },
        .fixed(
            "GET", .entitySchema, "getEntitySchema",
            OpenAPIOperation(
                "The schema of one entity", parameters: ["if_none_match"],
                answers: [(200, .json("Entity")), (304, .nothing)], problems: [404])
        ) { handlers, request, entity in try handlers.schemaDescription(of: entity, request) },
    ]

    // MARK: Syncing

    private static let syncing: [Route] = [
        .quick(
            .status, "getStatus",
            OpenAPIOperation("The state of syncing and the queue", answers: [(200, .json("Status"))]),
            reader: { handlers, _, _ in try handlers.quickStatus() }
        ) { handlers, _, _ in try await handlers.status() },
        .fixed(
            "POST", .sync, "startSync",
            OpenAPIOperation(
                "Starts a sync, or joins the running one",
                parameters: ["wait_for_sync"], body: "SyncRequest", bodyIsOptional: true,
                answers: [(200, .json("Status")), (202, .json("Status"))], problems: [404, 409, 502])
        ) { handlers, request, _ in try await handlers.sync(request) },
        .fixed(
            "POST", .pauseSync, "pauseSync",
            OpenAPIOperation("Pauses syncing", answers: [(200, .json("Status"))])
        ) { handlers, _, _ in try await handlers.pause() },
        .fixed(
            "POST", .resumeSync, "resumeSync", OpenAPIOperation("Resumes syncing", answers: [(200, .json("Status"))])
        ) { handlers, _, _ in try await handlers.resume() },
        .fixed(
            "GET", .drift, "getDrift",
            OpenAPIOperation(
                "Differences between the upstream's records and the schema", answers: [(200, .json("Drift"))])
        ) { handlers, _, _ in try handlers.drift() },
        .fixed(
            "GET", .activity, "getActivity",
            OpenAPIOperation(
                "What the daemon has done in the last hours and days", answers: [(200, .json("Activity"))])
        ) { handlers, _, _ in try handlers.activity() },
        .fixed(
            "GET", .doctor, "getFindings",
            OpenAPIOperation(
                "What the daemon finds when it checks itself and its machine, with what to do",
                answers: [(200, .json("Findings"))])
        ) { handlers, _, _ in try await handlers.findings() },
        .fixed(
            "GET", .signIn, "getSignInWays",
            OpenAPIOperation(
                "The ways to sign in to the upstream, and whether someone has to", answers: [(200, .json("SignInWays"))]
            )
        ) { handlers, _, _ in handlers.signInWays() },
        .fixed(
            "POST", .signIn, "signIn",
            OpenAPIOperation(
                "Begins a sign-in to the upstream, or sends the answers to its questions", body: "SignInRequest",
                answers: [(200, .json("SignIn"))], problems: [404, 409, 422, 502])
        ) { handlers, request, _ in try await handlers.signIn(request) },
    ]

    // MARK: Records of all entities

    private static let watching: [Route] = [
        .fixed(
            "GET", .changes, "listChanges",
            OpenAPIOperation(
                "Changes after a position in the change log; can wait for one",
                parameters: ["since", "wait_for_change", "limit", "entities", "kinds", "epoch"],
                answers: [(200, .json("Changes"))], problems: [404, 410])
        ) { handlers, request, _ in try await handlers.changes(request) },
        .fixed(
            "GET", .events, "streamEvents",
            OpenAPIOperation(
                "Changes as Server-Sent Events",
                parameters: ["since", "last_event_id", "entities", "kinds", "epoch"],
                answers: [(200, .events("Event"))], problems: [404, 410])
        ) { handlers, request, _ in try handlers.events(request) },
        .fixed(
            "GET", .search, "search",
            OpenAPIOperation(
                "Searches the records of all entities, best match first",
                parameters: ["words", "limit_of_search", "searched_entities"], answers: [(200, .json("Found"))],
                problems: [404])
        ) { handlers, request, _ in try await handlers.search(request) },
    ]

    private static let batch = Route.fixed(
        "POST", .batch, "writeBatch",
        OpenAPIOperation(
            "Creates, changes and deletes up to \(BatchRequest.most) records, all or each by itself",
            parameters: ["wait_for_push", "timeout", "idempotency_key"], body: "Batch",
            answers: [200, 202].map { ($0, .json("BatchAnswer")) }, problems: [422])
    ) { handlers, request, _ in try await handlers.batch(request) }

    private static func dashboard(isDocumented: Bool) -> Route {
        .fixed(
            "GET", .dashboard, "getDashboard", isDocumented: isDocumented,
            OpenAPIOperation(
                "Counts and sums of a period, compared with earlier ones",
                parameters: ["period", "scope", "user"], answers: [(200, .json("Dashboard"))], problems: [422])
        ) { handlers, request, _ in try await handlers.dashboard(request) }
    }
}
