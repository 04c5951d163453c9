internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Reminders: the list, and what a person can do with one.
extension Handlers {
    /// Ordered by time; without `state`, all but dismissed ones.
    func reminders(_ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        let limit = try parameters.integer("limit", in: 1...1000, else: 50)
        let (reminders, next) = try store.reminders(
            in: try parameters.reminderStates(), after: try parameters.reminderPlace(), limit: limit)
        let cursor = next.map { "\($0.dueAt.milliseconds)_\($0.id)" }
        return NextLink.page(reminders.map(\.document), next: cursor, of: request)
    }

    func reminder(_ id: String) throws -> Response {
        .json(200, Array(try store.reminder(reminderNumber(id)).document.bytes))
    }

    func dismissReminder(_ id: String, _ request: Request) async throws -> Response {
        let id = try reminderNumber(id)
        return try await write(request) { transaction in
            .document(try transaction.dismissReminder(id).document)
        }
    }

    /// Body: `{"for": "10m"}`, a number of up to four digits with a unit.
    func snoozeReminder(_ id: String, _ request: Request) async throws -> Response {
        let id = try reminderNumber(id)
        let body = try object(request)
        guard let text = body["for"]?.string, text.wholeMatch(of: /[1-9][0-9]{0,3}[smhd]/) != nil,
            let duration = Duration(text: text), body.members.count == 1
        else { throw Problem.body("for", "expected {\"for\": \"10m\"}, from 1s to 9999d") }
        return try await write(request) { transaction in
            .document(try transaction.snoozeReminder(id, for: duration).document)
        }
    }

    private func reminderNumber(_ id: String) throws(Problem) -> Int64 {
        guard let number = Int64(id) else { throw .notFound("there is no reminder \(id.prefix(50))") }
        return number
    }
}

extension QueryParameters {
    fileprivate func reminderStates() throws(Problem) -> [Reminder.State] {
        guard let names = try value("state") else { return Reminder.State.allCases.filter { $0 != .dismissed } }
        var states: [Reminder.State] = []
        for name in names.split(separator: ",", omittingEmptySubsequences: false) {
            guard let state = Reminder.State(rawValue: String(name)) else {
                let known = Reminder.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw .parameter("state", "there is no state \(name.prefix(50)); use any of \(known)")
            }
            states.append(state)
        }
        return states
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
