/// What the schema's rules remind of: `client.reminders`.
public struct Reminders: Sendable {
    let caller: Caller

    /// The reminders in order of time: those in the given states, or all that have not been dismissed.
    public func list(states: ReminderState..., pageSize: Int? = nil) -> Pages<Reminder> {
        var query = QueryItem.list("state", states.map(\.rawValue))
        if let pageSize { query.append(QueryItem("limit", String(pageSize))) }
        return caller.pages(.get(PathText.path("reminders"), query)) { Reminder(json: $0) }
    }

    /// One reminder.
    public func get(_ id: Int) async throws(ClientError) -> Reminder {
        try await caller.document(.get(PathText.path("reminders", String(id))), as: Reminder.self)
    }

    /// Dismisses a reminder.
    @discardableResult
    public func dismiss(_ id: Int, key: IdempotencyKey? = nil) async throws(ClientError) -> Reminder {
        let call = Call.write("POST", PathText.path("reminders", String(id), "dismiss"), key: key)
        return try await caller.document(call, as: Reminder.self)
    }

    /// Repeats a reminder that is due after this time.
    @discardableResult
    public func snooze(
        _ id: Int, for time: Duration, key: IdempotencyKey? = nil
    ) async throws(ClientError) -> Reminder {
        let body: JSONValue = ["for": .string(Self.text(of: time))]
        let call = Call.write("POST", PathText.path("reminders", String(id), "snooze"), body: body, key: key)
        return try await caller.document(call, as: Reminder.self)
    }

    /// The daemon takes numbers up to 9999.
    private static func text(of time: Duration) -> String {
        let seconds = max(1, time.components.seconds)
        for (unit, length) in [("s", 1), ("m", 60), ("h", 3600)] as [(String, Int64)] where seconds / length <= 9999 {
            if seconds % length == 0 || seconds / length > 999 { return "\(seconds / length)\(unit)" }
        }
        return "\(seconds / 86_400)d"
    }
}

/// A reminder of a record.
public struct Reminder: JSONDocument, Identifiable {
    /// The object as it came.
    public let json: JSONObject
    /// The number of the reminder.
    public let id: Int

    /// Nil without an id.
    public init?(json: JSONObject) {
        guard let id = json["id"]?.int else { return nil }
        self.json = json
        self.id = id
    }

    /// The name of the rule.
    public var rule: String { json["rule"]?.string ?? "" }
    /// The entity of the record.
    public var entity: String { json["entity"]?.string ?? "" }
    /// The key of the record.
    public var recordID: String { json["record_id"]?.plain ?? "" }
    /// What to remind of.
    public var text: String { json["text"]?.string ?? "" }
    /// When, as text.
    public var dueAt: String { json["due_at"]?.string ?? "" }
    /// Where the reminder stands.
    public var state: ReminderState { ReminderState(rawValue: json["state"]?.string ?? "") }
}

/// Where a reminder stands.
public struct ReminderState: OpenName {
    /// The name of the state.
    public let rawValue: String

    /// Any state, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not due yet.
    public static let scheduled: ReminderState = "scheduled"
    /// Due.
    public static let due: ReminderState = "due"
    /// Its command or webhook has accepted it.
    public static let delivered: ReminderState = "delivered"
    /// Comes again later.
    public static let snoozed: ReminderState = "snoozed"
    /// Dismissed by a user.
    public static let dismissed: ReminderState = "dismissed"
}
