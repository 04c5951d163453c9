/// The calls that every system has, whatever its schema says.
extension OpenAPICall {
    static let fixed: [OpenAPICall] = daemon + syncing + queue + conflicts + watching + reminders

    private static let daemon = [
        OpenAPICall(
            method: "GET", path: "/healthz", summary: "Alive; open to everybody", answers: [(200, .text("text/plain"))]),
        OpenAPICall(
            method: "GET", path: "/readyz", summary: "Able to answer, also while the upstream is away",
            answers: [(200, .text("text/plain"))]),
        OpenAPICall(
            method: "GET", path: "/metrics", summary: "Figures for Prometheus", answers: [(200, .text("text/plain"))]),
        OpenAPICall(
            method: "GET", path: "/openapi.json", summary: "This document", answers: [(200, .json("OpenAPI"))]),
        OpenAPICall(method: "GET", path: "/", summary: "A page for people", answers: [(200, .text("text/html"))]),
        OpenAPICall(method: "GET", path: "/style.css", summary: "How it looks", answers: [(200, .text("text/css"))]),
    ]

    private static let syncing = [
        OpenAPICall(
            method: "GET", path: "/v1/status", summary: "What the daemon does and what waits",
            answers: [(200, .json("Status"))]),
        OpenAPICall(
            method: "POST", path: "/v1/sync", summary: "Starts a sync, or joins the one under way",
            parameters: ["wait_for_sync"], body: "SyncRequest", bodyIsOptional: true,
            answers: [(200, .json("Status")), (202, .json("Status"))], problems: [404, 409, 502]),
        OpenAPICall(
            method: "POST", path: "/v1/sync/pause", summary: "Sends and pulls nothing from now on",
            answers: [(200, .json("Status"))]),
        OpenAPICall(
            method: "POST", path: "/v1/sync/resume", summary: "Goes on after a pause", answers: [(200, .json("Status"))]
        ),
        OpenAPICall(
            method: "GET", path: "/v1/drift", summary: "Where the upstream's records and the schema disagree",
            answers: [(200, .json("Drift"))]),
    ]

    private static let queue = [
        OpenAPICall(
            method: "GET", path: "/v1/pending/count", summary: "How many changes wait, and how many were given up",
            answers: [(200, .jsonOrText("PendingCount"))]),
        OpenAPICall(
            method: "GET", path: "/v1/pending", summary: "The queue, oldest first", parameters: ["limit", "position"],
            answers: [(200, .json("PendingChanges"))], leads: ("/v1/pending", "/data/0/id")),
        OpenAPICall(
            method: "GET", path: "/v1/pending/{id}", summary: "One change", answers: [(200, .json("PendingChange"))],
            problems: [404]),
        OpenAPICall(
            method: "PATCH", path: "/v1/pending/{id}", summary: "Corrects a change and tries it again",
            parameters: ["remove", "idempotency_key"], body: "Fields",
            answers: [(200, .json("PendingChange"))], problems: [404, 409, 422]),
        OpenAPICall(
            method: "DELETE", path: "/v1/pending/{id}",
            summary: "Discards a change: the record goes back to what the server has",
            parameters: ["cascade", "idempotency_key"], answers: [(204, .nothing)], problems: [404, 409, 422]),
        OpenAPICall(
            method: "POST", path: "/v1/pending/{id}/retry", summary: "Tries a change again now",
            parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [404, 409, 422]),
        OpenAPICall(
            method: "POST", path: "/v1/pending/retry", summary: "Tries all failed changes again now",
            parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [422]),
    ]

    private static let conflicts = [
        OpenAPICall(
            method: "GET", path: "/v1/conflicts", summary: "What merging decided, newest first",
            parameters: ["open", "limit", "position"], answers: [(200, .json("Conflicts"))],
            leads: ("/v1/conflicts", "/data/0/id")),
        OpenAPICall(
            method: "GET", path: "/v1/conflicts/{id}", summary: "One conflict", answers: [(200, .json("Conflict"))],
            problems: [404]),
        OpenAPICall(
            method: "POST", path: "/v1/conflicts/{id}/resolve", summary: "Chooses, where that waits for a person",
            parameters: ["idempotency_key"], body: "Choice", answers: [(200, .json("Conflict"))],
            problems: [404, 409, 422]),
        OpenAPICall(
            method: "POST", path: "/v1/conflicts/{id}/undo", summary: "Queues the choice that was not taken",
            parameters: ["idempotency_key"], answers: [(200, .json("Conflict"))], problems: [404, 405, 409, 422]),
    ]

    private static let watching = [
        OpenAPICall(
            method: "GET", path: "/v1/changes", summary: "What changed after a number, waiting for it if asked to",
            parameters: ["since", "wait_for_change", "limit", "entities", "kinds", "epoch"],
            answers: [(200, .json("Changes"))], problems: [404, 410]),
        OpenAPICall(
            method: "GET", path: "/v1/events", summary: "The same as Server-Sent Events",
            parameters: ["since", "last_event_id", "entities", "kinds", "epoch"],
            answers: [(200, .events("Event"))], problems: [404, 410]),
        OpenAPICall(
            method: "GET", path: "/v1/search", summary: "Records of all entities by their words, best first",
            parameters: ["words", "limit_of_search", "searched_entities"], answers: [(200, .json("Found"))],
            problems: [404]),
    ]

    private static let reminders = [
        OpenAPICall(
            method: "GET", path: "/v1/reminders", summary: "What is due and what is coming, by its time",
            parameters: ["reminder_states", "limit", "cursor"], answers: [(200, .json("Reminders"))]),
        OpenAPICall(
            method: "GET", path: "/v1/reminders/{id}", summary: "One reminder", answers: [(200, .json("Reminder"))],
            problems: [404]),
        OpenAPICall(
            method: "POST", path: "/v1/reminders/{id}/dismiss", summary: "Reminds of it no more",
            parameters: ["idempotency_key"], answers: [(200, .json("Reminder"))], problems: [404, 422]),
        OpenAPICall(
            method: "POST", path: "/v1/reminders/{id}/snooze", summary: "Reminds of it again later",
            parameters: ["idempotency_key"], body: "Snooze", answers: [(200, .json("Reminder"))],
            problems: [404, 409, 413, 415, 422]),
    ]

    static let dashboard = OpenAPICall(
        method: "GET", path: "/v1/dashboard", summary: "Counts and sums of a period, with comparisons",
        parameters: ["period", "scope", "user"], answers: [(200, .json("Dashboard"))], problems: [422])
}
