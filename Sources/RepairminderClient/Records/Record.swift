/// A record as the daemon has it: the upstream's object, with the changes that are still on their way.
public struct Record: JSONDocument {
    /// The object as it came, with `_sync` and the other members that the daemon adds.
    public let json: JSONObject
    /// The version, for a write that must not undo what others have changed. Nil for a record of a list.
    public let tag: String?

    /// Wraps the object.
    public init?(json: JSONObject) { self.init(json: json, tag: nil) }

    init(json: JSONObject, tag: String?) {
        self.json = json
        self.tag = tag
    }

    /// The fields alone, without what the daemon adds.
    public var fields: JSONObject { json.removing("_sync", "_labels", "_include", "_server") }

    /// How the record is synced; nil if only some fields were asked for by a daemon that leaves it out then.
    public var sync: RecordSync? { json["_sync"]?.object.map(RecordSync.init) }

    /// The label of an enum value; nil unless labels were asked for and the schema has one.
    public func label(_ field: String) -> String? { json["_labels"]?[field]?.string }

    /// A related record; nil unless it was included and is cached.
    public func related(_ relation: String) -> Record? { json["_include"]?[relation]?.object.flatMap(Record.init) }

    /// Related records; empty unless they were included.
    public func allRelated(_ relation: String) -> [Record] {
        (json["_include"]?[relation]?.array ?? []).compactMap(\.object).compactMap(Record.init)
    }

    /// What the upstream last sent of the pending fields; nil unless it was asked for.
    public var server: JSONObject? { json["_server"]?.object }
}

/// Whether the upstream has a record as it is here.
public struct RecordState: OpenName {
    /// The name of the state.
    public let rawValue: String

    /// Any state, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The record is as the upstream last sent it.
    public static let synced: RecordState = "synced"
    /// It has changes that are not sent yet.
    public static let pending: RecordState = "pending"
    /// It has a change that is being sent.
    public static let uploading: RecordState = "uploading"
    /// It has a change that waits until someone chooses.
    public static let conflict: RecordState = "conflict"
    /// It has a change that failed.
    public static let error: RecordState = "error"
}

/// How a record is synced.
public struct RecordSync: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init(json: JSONObject) { self.json = json }

    /// Whether the upstream has the record as it is here.
    public var state: RecordState { RecordState(rawValue: json["state"]?.string ?? "") }

    /// The fields with changes that the upstream does not have yet.
    public var pendingFields: [String] { (json["pending_fields"]?.array ?? []).compactMap(\.string) }

    /// Why the oldest change with a failed attempt failed; nil if none did.
    public var error: String? { json["error"]?["message"]?.string }

    /// Why a write that waited for the upstream is not there yet.
    public var push: PushState? { json["push"]?.object.map(PushState.init) }
}

/// One step of a record's history.
public struct HistoryStep: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init(json: JSONObject) { self.json = json }

    /// The position in the change log.
    public var sequence: Int? { json["seq"]?.int }
    /// When it happened, as text.
    public var at: String? { json["at"]?.string }
    /// What happened.
    public var kind: ChangeKind { ChangeKind(rawValue: json["kind"]?.string ?? "") }
    /// Why, such as `edited` or `retried`.
    public var reason: String? { json["reason"]?.string }
    /// The change in the queue; nil for a change from the upstream.
    public var changeID: Int? { json["change_id"]?.int }
    /// What was set to what, without secrets and long values.
    public var values: JSONObject? { json["values"]?.object }
    /// The upstream's answer to an attempt that failed.
    public var error: String? { json["error"]?["message"]?.string }
}
