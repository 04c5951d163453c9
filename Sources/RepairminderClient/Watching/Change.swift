/// An entry of the change log.
public struct Change: JSONDocument {
    /// The object as it came.
    public let json: JSONObject
    /// Where the log continues after this entry.
    public let position: ChangePosition

    /// Nil without a number. The position has no epoch then: prefer the ones that `Changes` gives.
    public init?(json: JSONObject) { self.init(json: json, epoch: nil) }

    init?(json: JSONObject, epoch: String?) {
        guard let sequence = json["seq"]?.int else { return nil }
        self.json = json
        position = ChangePosition(epoch: epoch, sequence: sequence)
    }

    /// The number of the entry.
    public var sequence: Int { position.sequence }
    /// When it happened, as text.
    public var at: String { json["at"]?.string ?? "" }
    /// What happened.
    public var kind: ChangeKind { ChangeKind(rawValue: json["kind"]?.string ?? "") }
    /// The entity of the record.
    public var entity: String { json["entity"]?.string ?? "" }
    /// The key of the record.
    public var recordID: String { json["id"]?.plain ?? "" }
    /// The key that a renamed record had before.
    public var oldRecordID: String? { json["old_id"]?.plain }
    /// The fields that the change sets; nil if they are not known.
    public var fields: [String]? { json["fields"]?.array?.compactMap(\.string) }
    /// The change in the queue; nil for a change from the upstream.
    public var changeID: Int? { json["change_id"]?.int }
    /// For a change that was discarded because it corrected another: the other one, which is sent with its values.
    public var carrier: Int? { json["carrier"]?.int }
}

/// What happened to a record.
public struct ChangeKind: OpenName {
    /// The name of the kind.
    public let rawValue: String

    /// Any kind, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A record is new or has changed.
    public static let upserted: ChangeKind = "upserted"
    /// A record is deleted.
    public static let deleted: ChangeKind = "deleted"
    /// A change waits to be sent.
    public static let queued: ChangeKind = "queued"
    /// A change is being sent.
    public static let uploading: ChangeKind = "uploading"
    /// A change will be tried again.
    public static let waiting: ChangeKind = "waiting"
    /// A change failed permanently.
    public static let failed: ChangeKind = "failed"
    /// The upstream has the change.
    public static let acknowledged: ChangeKind = "acknowledged"
    /// A change left the queue without being sent.
    public static let discarded: ChangeKind = "discarded"
    /// The upstream gave the record another id.
    public static let renamed: ChangeKind = "renamed"
    /// A conflict was found, resolved or undone.
    public static let conflict: ChangeKind = "conflict"
    /// A reminder fell due, was delivered, snoozed or dismissed.
    public static let reminder: ChangeKind = "reminder"
}

/// A place in the change log. Store its text to continue there after a restart of your program.
public struct ChangePosition: Sendable, Hashable, CustomStringConvertible {
    /// The cache that the number belongs to; nil if it is not known.
    public let epoch: String?
    /// The number of the last entry that was seen; 0 is the beginning of the log.
    public let sequence: Int

    /// Before the oldest entry that is kept.
    public static let oldest = ChangePosition(epoch: nil, sequence: 0)

    /// A place.
    public init(epoch: String?, sequence: Int) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// The place whose text you have stored; nil if it is none.
    public init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let last = parts.last, let sequence = Int(last), sequence >= 0 else { return nil }
        self.init(epoch: parts.count > 1 ? parts.dropLast().joined(separator: "-") : nil, sequence: sequence)
    }

    /// The text of the place, which is the id of its event: `9ea9fe8d33ad4d5b-1974`.
    public var text: String { epoch.map { "\($0)-\(sequence)" } ?? String(sequence) }

    /// The text of the place.
    public var description: String { text }
}
