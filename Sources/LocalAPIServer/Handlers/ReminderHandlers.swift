internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Reminders: the list, and what a person can do with one.
extension Handlers {
    /// Ordered by time; without `state`, all but dismissed ones.
    func reminders(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let limit = parameters.pageSize(50, &mistakes)
        let states = mistakes.collect([], try parameters.reminderStates())
        let place: ReminderPlace? = mistakes.collect(nil, try parameters.reminderPlace())
        try mistakes.throwAny()
        let (reminders, next) = try await store.away(for: ReadCaller(request)) {
            try $0.reminders(in: states, after: place, limit: limit)
        }
        let cursor = next.map { "\($0.dueAt.milliseconds)_\($0.id)" }
        return NextLink.page(reminders.map(\.document), next: cursor, of: request)
    }

    func reminder(_ id: String) throws -> Response {
        .document(try store.reminder(reminderNumber(id)).document)
    }

    func dismissReminder(_ id: String, _ request: Request) async throws -> Response {
        try await write(request, mistakes) { transaction in
            .document(try transaction.dismissReminder(reminderNumber(id)).document)
        }
    }

    /// Body: `{"for": "10m"}`, a number of up to four digits with a unit.
    func snoozeReminder(_ id: String, _ request: Request) async throws -> Response {
        var mistakes = mistakes
        let body = try mistakes.object(request)
        mistakes.requireOnly(["for"], in: body)
        let duration = mistakes.member("for", of: body, "expected {\"for\": \"10m\"}, from 1s to 9999d") { value in
            value.string.flatMap { $0.wholeMatch(of: /[1-9][0-9]{0,3}[smhd]/) == nil ? nil : Duration(text: $0) }
        }
        guard let duration else { throw mistakes.problem }
        return try await write(request, mistakes) { transaction in
            .document(try transaction.snoozeReminder(reminderNumber(id), for: duration).document)
        }
    }

    private func reminderNumber(_ id: String) throws(Problem) -> Int64 { try .number(id, of: "reminder") }
}

extension QueryParameters {
    fileprivate func reminderStates() throws(Problem) -> [Reminder.State] {
        try choices("state") ?? Reminder.State.allCases.filter { $0 != .dismissed }
    }

    fileprivate func reminderPlace() throws(Problem) -> ReminderPlace? {
        guard let text = try value("cursor") else { return nil }
        let parts = text.split(separator: "_").map { Int64($0) }
        guard parts.count == 2, let time = parts[0], let id = parts[1] else {
            throw .parameter("cursor", "this cursor is not one of this API; send next of the previous page")
        }
        return ReminderPlace(dueAt: Timestamp(milliseconds: time), id: id)
    }
}
