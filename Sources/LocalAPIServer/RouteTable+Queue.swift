internal import LocalAPI
internal import SocketServer

/// Queue, conflicts and reminders: the calls with which people decide.
extension RouteTable {
    static let queue: [Route] = [
        .cached(
            .pendingCount, "countPendingChanges",
            OpenAPIOperation(
                "The number of pending and of failed changes", answers: [(200, .jsonOrText("PendingCount"))])
        ) { handlers, request in try handlers.pendingCount(request) },
        .fixed(
            "GET", .pendingChanges, "listPendingChanges",
            OpenAPIOperation(
                "The queue, oldest first unless sorted",
                parameters: [
                    "entities", "change_states", "change_record", "retry_count", "retry_count.gt", "retry_count.gte",
                    "retry_count.lt", "retry_count.lte", "retry_count.ne", "change_sort", "limit", "cursor",
                ],
                answers: [(200, .json("PendingChanges"))], leads: (PathTemplate.pendingChanges.text, "/data/0/id"))
        ) { handlers, request, _ in try await handlers.pending(request) },
        .fixed(
            "GET", .pendingChange, "getPendingChange",
            OpenAPIOperation("One change", answers: [(200, .json("PendingChange"))], problems: [404])
        ) { handlers, _, id in try handlers.pendingChange(id) },
        .fixed(
            "PATCH", .pendingChange, "correctPendingChange",
            OpenAPIOperation(
                "Corrects a change and retries it",
                parameters: ["remove", "idempotency_key"], body: "Fields",
                answers: [(200, .json("PendingChange"))], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.correct(id, request) },
        .fixed(
            "DELETE", .pendingChange, "discardPendingChange",
            OpenAPIOperation(
                "Discards a change and restores the server's version of the record",
                parameters: ["cascade", "idempotency_key"], answers: [(204, .nothing)], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.discard(id, request) },
        .fixed(
            "POST", .retryPending, "retryPendingChange",
            OpenAPIOperation(
                "Retries a change now",
                parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.retry(id, request) },
        .fixed(
            "POST", .retryAllPending, "retryPendingChanges",
            OpenAPIOperation(
                "Retries all failed changes now",
                parameters: ["idempotency_key"], answers: [(200, .json("Retried"))], problems: [422])
        ) { handlers, request, _ in try await handlers.retry(nil, request) },
    ]

    static let conflicts: [Route] = [
        .fixed(
            "GET", .conflicts, "listConflicts",
            OpenAPIOperation(
                "Conflicts, newest first",
                parameters: ["open", "limit", "position"], answers: [(200, .json("Conflicts"))],
                leads: (PathTemplate.conflicts.text, "/data/0/id"))
        ) { handlers, request, _ in try await handlers.conflicts(request) },
        .fixed(
            "GET", .conflict, "getConflict",
            OpenAPIOperation("One conflict", answers: [(200, .json("Conflict"))], problems: [404])
        ) { handlers, _, id in try handlers.conflict(id) },
        .fixed(
            "POST", .resolveConflict, "resolveConflict",
            OpenAPIOperation(
                "Resolves a conflict that waits for a person",
                parameters: ["idempotency_key"], body: "Choice", answers: [(200, .json("Conflict"))],
                problems: [404, 409, 422])
        ) { handlers, request, id in try await handlers.resolve(id, request) },
        .fixed(
            "POST", .undoConflict, "undoConflict",
            OpenAPIOperation(
                "Undoes a decision by queueing the other value",
                parameters: ["idempotency_key"], answers: [(200, .json("Conflict"))], problems: [404, 405, 409, 422])
        ) { handlers, request, id in try await handlers.undo(id, request) },
    ]

    static let reminders: [Route] = [
        .fixed(
            "GET", .reminders, "listReminders",
            OpenAPIOperation(
                "Reminders, due and upcoming, ordered by time",
                parameters: ["reminder_states", "limit", "cursor"], answers: [(200, .json("Reminders"))])
        ) { handlers, request, _ in try await handlers.reminders(request) },
        .fixed(
            "GET", .reminder, "getReminder",
            OpenAPIOperation("One reminder", answers: [(200, .json("Reminder"))], problems: [404])
        ) { handlers, _, id in try handlers.reminder(id) },
        .fixed(
            "POST", .dismissReminder, "dismissReminder",
            OpenAPIOperation(
                "Dismisses a reminder",
                parameters: ["idempotency_key"], answers: [(200, .json("Reminder"))], problems: [404, 422])
        ) { handlers, request, id in try await handlers.dismissReminder(id, request) },
        .fixed(
            "POST", .snoozeReminder, "snoozeReminder",
            OpenAPIOperation(
                "Snoozes a reminder",
                parameters: ["idempotency_key"], body: "Snooze", answers: [(200, .json("Reminder"))],
                problems: [404, 409, 413, 415, 422])
        ) { handlers, request, id in try await handlers.snoozeReminder(id, request) },
    ]
}
