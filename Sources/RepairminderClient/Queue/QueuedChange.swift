/// A change that the upstream does not have yet.
public struct QueuedChange: JSONDocument, Identifiable {
    /// The object as it came.
    public let json: JSONObject
    /// The number of the change.
    public let id: Int

    /// Nil without an id.
    public init?(json: JSONObject) {
        guard let id = json["id"]?.int else { return nil }
        self.json = json
        self.id = id
    }

    /// The entity of the record.
    public var entity: String { json["entity"]?.string ?? "" }
    /// The key of the record.
    public var recordID: String { json["record_id"]?.plain ?? "" }
    /// `create`, `update`, `delete` or `content`.
    public var operation: String { json["operation"]?.string ?? "" }
    /// Which fields change; empty for content.
    public var fields: [String] { (json["fields"]?.array ?? []).compactMap(\.string) }
    /// The new values, without secrets.
    public var body: JSONObject { json["body"]?.object ?? JSONObject() }
    /// Where the change stands.
    public var state: ChangeState { ChangeState(rawValue: json["state"]?.string ?? "") }
    /// Attempts that count.
    public var attempts: Int { json["retry_count"]?.int ?? 0 }
    /// Why the last attempt failed; nil if it did not.
    public var error: AttemptError? { json["error"]?.object.map(AttemptError.init) }
    /// The change that this one waits for.
    public var blockedBy: Int? { json["blocked_by"]?.int }
    /// The conflict that this change waits for.
    public var conflict: Int? { json["conflict"]?.int ?? json["conflict"]?["id"]?.int }
    /// The request that would be sent now; nil if there is none.
    public var request: JSONObject? { json["request"]?.object }
}

/// Why an attempt to send a change failed.
public struct AttemptError: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init(json: JSONObject) { self.json = json }

    /// The kind, such as `refused` or `timeout`.
    public var kind: String { json["class"]?.string ?? "" }
    /// The upstream's status; nil if it gave none.
    public var status: Int? { json["status"]?.int }
    /// The reason, for people.
    public var message: String { json["message"]?.string ?? "" }
}

/// Where a queued change stands.
public struct ChangeState: OpenName {
    /// The name of the state.
    public let rawValue: String

    /// Any state, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It is sent when its turn comes.
    public static let queued: ChangeState = "queued"
    /// It is being sent.
    public static let uploading: ChangeState = "uploading"
    /// It waits for its next attempt.
    public static let waiting: ChangeState = "waiting"
    /// It waits for another change, for content or for a choice.
    public static let blocked: ChangeState = "blocked"
    /// It failed permanently, and someone has to act.
    public static let failed: ChangeState = "failed"
}

/// Which changes of the queue a list has. Without anything it has all, oldest first.
public struct QueueQuery: Sendable, Hashable {
    /// In one of these states; all if empty.
    public var states: [ChangeState] = []
    /// Of these entities; all if empty.
    public var entities: [String] = []
    /// Of the record with this key.
    public var record: String?
    /// Fields to sort by; `-` in front means descending.
    public var sort: [String] = []
    /// Changes on a page, 1 to 1000.
    public var pageSize: Int?
    /// Parameters that are sent as they are, such as `retry_count.gte`.
    public var raw: [QueryItem] = []

    /// All changes, or those in some states.
    public init(states: ChangeState...) { self.states = states }

    var items: [QueryItem] {
        var items = QueryItem.list("state", states.map(\.rawValue)) + QueryItem.list("entity", entities)
        if let record { items.append(QueryItem("record", record)) }
        items += QueryItem.list("sort", sort)
        if let pageSize { items.append(QueryItem("limit", String(pageSize))) }
        return items + raw
    }
}
