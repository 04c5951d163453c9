internal import LocalAPI
internal import SocketServer

/// Queue, conflicts and reminders: what people look through and decide on. And the change log and search.
extension RouteTable {
    static let queue: [Route] = [
        .fixed(
            "GET", .pendingCount,
            OpenAPIOperation(
                "How many changes wait, and how many were given up", answers: [(200, .jsonOrText("PendingCount"))])
        ) { handlers, request, _ in try handlers.pendingCount(request) },
        .fixed(
            "GET", .pendingChanges,
            OpenAPIOperation(
                "The queue, oldest first", parameters: ["limit", "position"],
                answers: [(200, .json("PendingChanges"))], leads: (PathTemplate.pendingChanges.text, "/data/0/id"))
        ) { handlers, request, _ in try handlers.pending(request) },
        .fixed(
            "GET", .pendingChange,
            OpenAPIOperation("One change", answers: [(200, .json("PendingChange"))], problems: [404])
        ) { handlers, _, id in try handlers.pendingChange(id) },
        .fixed(
            "PATCH", .pendingChange,
            OpenAPIOperation(
                "Corrects a change and tries it again",
                parameters: ["remove", "idempotency_key"], body: "Fields",
                answers: [(200, .json("PendingChange"))], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.correct(id, request) },
        .fixed(
            "DELETE", .pendingChange,
            OpenAPIOperation(
                "Discards a change: the record goes back to what the server has",
                parameters: ["cascade", "idempotency_key"], answers: [(204, .nothing)], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.discard(id, request) },
        .fixed(
            "POST", .retryPending,
            OpenAPIOperation(
                "Tries a change again now",
                parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.retry(id, request) },
        .fixed(
            "POST", .retryAllPending,
            OpenAPIOperation(
                "Tries all failed changes again now",
                parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [422])
        ) { handlers, request, _ in try await handlers.retry(nil, request) },
    ]

    static let conflicts: [Route] = [
        .fixed(
            "GET", .conflicts,
            OpenAPIOperation(
                "What merging decided, newest first",
                parameters: ["open", "limit", "position"], answers: [(200, .json("Conflicts"))],
                leads: (PathTemplate.conflicts.text, "/data/0/id"))
        ) { handlers, request, _ in try handlers.conflicts(request) },
        .fixed(
            "GET", .conflict, OpenAPIOperation("One conflict", answers: [(200, .json("Conflict"))], problems: [404])
        ) { handlers, _, id in try handlers.conflict(id) },
        .fixed(
            "POST", .resolveConflict,
            OpenAPIOperation(
                "Chooses, where that waits for a person",
                parameters: ["idempotency_key"], body: "Choice", answers: [(200, .json("Conflict"))],
                problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.resolve(id, request) },
        .fixed(
            "POST", .undoConflict,
            OpenAPIOperation(
                "Queues the choice that was not taken",
                parameters: ["idempotency_key"], answers: [(200, .json("Conflict"))], problems: [404, 405, 409, 422])
        ) { handlers, request, id in try await handlers.undo(id, request) },
    ]

    static let watching: [Route] = [
        .fixed(
            "GET", .changes,
            OpenAPIOperation(
                "What changed after a number, waiting for it if asked to",
                parameters: ["since", "wait_for_change", "limit", "entities", "kinds", "epoch"],
                answers: [(200, .json("Changes"))], problems: [404, 410])
        ) { handlers, request, _ in try await handlers.changes(request) },
        .fixed(
            "GET", .events,
            OpenAPIOperation(
                "The same as Server-Sent Events",
                parameters: ["since", "last_event_id", "entities", "kinds", "epoch"],
                answers: [(200, .events("Event"))], problems: [404, 410])
        ) { handlers, request, _ in try handlers.events(request) },
        .fixed(
            "GET", .search,
            OpenAPIOperation(
                "Records of all entities by their words, best first",
                parameters: ["words", "limit_of_search", "searched_entities"], answers: [(200, .json("Found"))],
                problems: [404])
        ) { handlers, request, _ in try await handlers.search(request) },
    ]

    static let reminders: [Route] = [
        .fixed(
            "GET", .reminders,
            OpenAPIOperation(
                "What is due and what is coming, by its time",
                parameters: ["reminder_states", "limit", "cursor"], answers: [(200, .json("Reminders"))])
        ) { handlers, request, _ in try handlers.reminders(request) },
        .fixed(
            "GET", .reminder, OpenAPIOperation("One reminder", answers: [(200, .json("Reminder"))], problems: [404])
        ) { handlers, _, id in try handlers.reminder(id) },
        .fixed(
            "POST", .dismissReminder,
            OpenAPIOperation(
                "Reminds of it no more",
                parameters: ["idempotency_key"], answers: [(200, .json("Reminder"))], problems: [404, 422])
        ) { handlers, request, id in try await handlers.dismissReminder(id, request) },
        .fixed(
            "POST", .snoozeReminder,
            OpenAPIOperation(
                "Reminds of it again later",
                parameters: ["idempotency_key"], body: "Snooze", answers: [(200, .json("Reminder"))],
                problems: [404, 409, 413, 415, 422])
        ) { handlers, request, id in try await handlers.snoozeReminder(id, request) },
    ]
}
