/// Fields that were changed here and elsewhere: `client.conflicts`.
public struct Conflicts: Sendable {
    let caller: Caller

    /// The conflicts, newest first; `openOnly` has those that wait for a choice.
    public func list(openOnly: Bool = false, pageSize: Int? = nil) -> Pages<Conflict> {
        var query = openOnly ? [QueryItem("open", "true")] : []
        if let pageSize { query.append(QueryItem("limit", String(pageSize))) }
        return caller.pages(.get(PathText.path("conflicts"), query)) { Conflict(json: $0) }
    }

    /// One conflict.
    public func get(_ id: Int) async throws(ClientError) -> Conflict {
        try await caller.document(.get(PathText.path("conflicts", String(id))), as: Conflict.self)
    }

    /// Chooses a side; `.conflict` if the conflict is already resolved.
    @discardableResult
    public func resolve(
        _ id: Int, for winner: Conflict.Side, key: IdempotencyKey? = nil
    ) async throws(ClientError) -> Conflict {
        let body: JSONValue = ["winner": .string(winner.rawValue)]
        let call = Call.write("POST", PathText.path("conflicts", String(id), "resolve"), body: body, key: key)
        return try await caller.document(call, as: Conflict.self)
    }

    /// Queues the other choice as a new change.
    @discardableResult
    public func undo(_ id: Int, key: IdempotencyKey? = nil) async throws(ClientError) -> Conflict {
        let call = Call.write("POST", PathText.path("conflicts", String(id), "undo"), key: key)
        return try await caller.document(call, as: Conflict.self)
    }
}

/// A field, or a whole record, that was changed here and elsewhere.
public struct Conflict: JSONDocument, Identifiable {
    /// One of the two sides.
    public struct Side: OpenName {
        /// `local` or `server`.
        public let rawValue: String

        /// Any side, known or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// What was written here.
        public static let local: Side = "local"
        /// What the upstream has.
        public static let server: Side = "server"
    }

    /// The object as it came.
    public let json: JSONObject
    /// The number of the conflict.
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
    /// The field; nil for the whole record.
    public var field: String? { json["field"]?.string }
    /// The value that both sides started from.
    public var base: JSONValue? { json["base"] }
    /// The value that was written here.
    public var local: JSONValue? { json["local"] }
    /// The value that the upstream has.
    public var server: JSONValue? { json["server"] }
    /// The schema's policy.
    public var rule: String { json["rule"]?.string ?? "" }
    /// The side that was chosen; nil until someone chooses.
    public var winner: Side? { json["winner"]?.string.map(Side.init) }
    /// Whether someone has to choose.
    public var isOpen: Bool { winner == nil }
}
