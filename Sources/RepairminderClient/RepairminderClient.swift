/// A client of the daemon's local API, version 1.
///
///     let client = RepairminderClient(.packaged)
///     for try await order in client.records("orders").list(RecordQuery(where: .equals("status", "ready"))).items {
///         print(order["order_number"]?.plain ?? "", order["total"]?.plain ?? "")
///     }
///
/// It holds no connection and costs nothing to copy. Every call throws `ClientError`.
public struct RepairminderClient: Sendable {
    let caller: Caller

    /// A client of the daemon at an address.
    ///
    /// Over TCP give no token to an address that another user of the machine could take while the daemon is stopped; the
    /// Unix socket of the package has no such gap.
    public init(_ address: DaemonAddress, token: DaemonToken? = nil, retry: RetryPolicy = .standard) {
        self.init(transport: SocketTransport(address), token: token, retry: retry)
    }

    /// A client over any transport.
    public init(transport: any ClientTransport, token: DaemonToken? = nil, retry: RetryPolicy = .standard) {
        self.init(Caller(transport: transport, token: token, retry: retry))
    }

    init(_ caller: Caller) { self.caller = caller }

    /// The records of an entity, by its name in the schema.
    public func records(_ entity: String) -> Records { Records(entity: entity, caller: caller) }

    /// The records of an entity, by their type in generated code.
    public func records<Item: TypedRecord>(_ type: Item.Type) -> TypedRecords<Item> {
        TypedRecords(records(Item.entity))
    }

    /// The changes that the upstream does not have yet.
    public var queue: Queue { Queue(caller: caller) }

    /// The fields that were changed here and elsewhere.
    public var conflicts: Conflicts { Conflicts(caller: caller) }

    /// What the schema's rules remind of.
    public var reminders: Reminders { Reminders(caller: caller) }

    /// The change log.
    public var changes: Changes { Changes(caller: caller) }

    /// The daemon itself: status, syncing, schema.
    public var daemon: Daemon { Daemon(caller: caller) }

    /// Searches the records of all entities, or of some; the best match comes first.
    public func search(
        _ words: String, entities: [String] = [], limit: Int? = nil
    ) async throws(ClientError) -> Page<SearchHit> {
        var query = [QueryItem("q", words)] + QueryItem.list("entity", entities)
        if let limit { query.append(QueryItem("limit", String(limit))) }
        return try await caller.page(.get(PathText.path("search"), query)) { SearchHit(json: $0) }
    }

    /// Does many writes in one request. If an atomic one is refused, the problem is `.batchRefused`, with an error for
    /// each mistake.
    ///
    /// Without records the results have only status and id, which makes large batches faster.
    @discardableResult
    public func run(
        _ batch: Batch, wait: Duration? = nil, returnsRecords: Bool = true, key: IdempotencyKey? = nil
    ) async throws(ClientError) -> BatchResult {
        var call = Call.write("POST", PathText.path("_batch"), body: batch.json, key: key)
        if !returnsRecords { call.headers.append(HeaderField("Prefer", "return=minimal")) }
        WriteOptions(wait: wait).apply(to: &call)
        return try await caller.document(call, as: BatchResult.self)
    }

    /// Any other call of the API, for what this version of the library does not know. Returns the body of the answer.
    ///
    /// `path` is encoded. A write without an `Idempotency-Key` of yours gets one.
    @discardableResult
    public func call(
        _ method: String, _ path: String, query: [QueryItem] = [], headers: [HeaderField] = [], body: JSONValue? = nil
    ) async throws(ClientError) -> JSONValue {
        var call = method == "GET" ? Call.get(path, query) : .write(method, path, query, body: body, key: nil)
        if headers.first(named: "Idempotency-Key") != nil { call.headers = [] }
        call.headers += headers
        return try await caller.json(call).body
    }
}

/// A record that a search has found.
public struct SearchHit: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init?(json: JSONObject) { self.json = json }

    /// The entity of the record.
    public var entity: String { json["entity"]?.string ?? "" }
    /// The key of the record.
    public var recordID: String { json["id"]?.plain ?? "" }
    /// The record's name for people.
    public var title: String { json["title"]?.string ?? "" }
    /// Words around the match, with each match between `«` and `»`.
    public var snippet: String { json["snippet"]?.string ?? "" }
}
