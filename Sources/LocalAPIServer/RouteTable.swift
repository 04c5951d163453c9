internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// Every call of the API under one schema, in the order of the OpenAPI document.
///
/// A call is added here and nowhere else: dispatch, `Allow`, the OpenAPI document and the metric labels are read from it.
struct RouteTable: Sendable {
    let routes: [Route]

    init(_ schema: EntitySchema) {
        routes =
            Self.daemon + Self.syncing + Self.queue + Self.conflicts + Self.watching + Self.reminders
            + [Self.dashboard(isDocumented: schema.dashboard != nil)]
            + schema.entities.flatMap { EntityRoutes(schema: schema, entity: $0).all }
    }

    /// Those that the OpenAPI document describes.
    var calls: [OpenAPICall] { routes.filter(\.isDocumented).map(\.call) }

    // MARK: The daemon

    private static let daemon: [Route] = [
        .fixed(
            "GET", .alive, access: .anyone,
            OpenAPIOperation("Alive; open to everybody", answers: [(200, .text("text/plain"))])
        ) { _, _, _ in .text("alive\n") },
        .fixed(
            "GET", .ready,
            OpenAPIOperation(
                "Able to answer, also while the upstream is away", answers: [(200, .text("text/plain"))])
        ) { handlers, _, _ in try handlers.ready() },
        .fixed("GET", .metrics, OpenAPIOperation("Figures for Prometheus", answers: [(200, .text("text/plain"))])) {
            handlers, _, _ in try await handlers.metricsText()
        },
        .fixed("GET", .openAPI, OpenAPIOperation("This document", answers: [(200, .json("OpenAPI"))])) {
            handlers, _, _ in try handlers.openAPI()
        },
        .fixed("GET", .statusPage, OpenAPIOperation("A page for people", answers: [(200, .text("text/html"))])) {
            handlers, _, _ in try await handlers.statusPage()
        },
        .fixed("GET", .styleSheet, OpenAPIOperation("How it looks", answers: [(200, .text("text/css"))])) { _, _, _ in
            StatusPage.styleSheet
        },
    ]

    // MARK: Syncing

    private static let syncing: [Route] = [
        .fixed(
            "GET", .status, OpenAPIOperation("What the daemon does and what waits", answers: [(200, .json("Status"))])
        ) { handlers, _, _ in try await handlers.status() },
        .fixed(
            "POST", .sync,
            OpenAPIOperation(
                "Starts a sync, or joins the one under way",
                parameters: ["wait_for_sync"], body: "SyncRequest", bodyIsOptional: true,
                answers: [(200, .json("Status")), (202, .json("Status"))], problems: [404, 409, 502])
        ) { handlers, request, _ in try await handlers.sync(request) },
        .fixed(
            "POST", .pauseSync,
            OpenAPIOperation("Sends and pulls nothing from now on", answers: [(200, .json("Status"))])
        ) { handlers, _, _ in try await handlers.pause() },
        .fixed(
            "POST", .resumeSync, OpenAPIOperation("Goes on after a pause", answers: [(200, .json("Status"))])
        ) { handlers, _, _ in try await handlers.resume() },
        .fixed(
            "GET", .drift,
            OpenAPIOperation(
                "Where the upstream's records and the schema disagree", answers: [(200, .json("Drift"))])
        ) { handlers, request, _ in try handlers.drift(request) },
    ]

    private static func dashboard(isDocumented: Bool) -> Route {
        .fixed(
            "GET", .dashboard, isDocumented: isDocumented,
            OpenAPIOperation(
                "Counts and sums of a period, with comparisons",
                parameters: ["period", "scope", "user"], answers: [(200, .json("Dashboard"))], problems: [422])
        ) { handlers, request, _ in try handlers.dashboard(request) }
    }
}
