/// The records of one entity: `client.records("orders")`.
///
/// In every place of an id, a natural key works too (`order_number:1486`), where the schema has one.
public struct Records: Sendable {
    /// The name of the entity.
    public let entity: String
    let caller: Caller

    // MARK: Lists

    /// The records of a list, page by page; `.items` has them one by one.
    public func list(_ query: RecordQuery = RecordQuery()) -> Pages<Record> { pages(PathText.path(entity), query) }

    /// The first record of a list; nil if it is empty.
    public func first(_ query: RecordQuery = RecordQuery()) async throws(ClientError) -> Record? {
        try await list(query.limited(to: 1)).first().items.first
    }

    /// The number of records in a list.
    public func count(_ query: RecordQuery = RecordQuery()) async throws(ClientError) -> Int {
        try await list(query.limited(to: 1).counted()).first().total ?? 0
    }

    /// A page of a list, which begins where `cursor` says: `next` of the page before it.
    public func page(
        _ query: RecordQuery = RecordQuery(), cursor: String? = nil
    ) async throws(ClientError) -> Page<Record> {
        try await list(query).page(cursor)
    }

    /// The related records of one record, such as the `devices` of an order.
    public func related(
        of id: String, _ relation: String, _ query: RecordQuery = RecordQuery()
    ) -> Pages<Record> {
        pages(PathText.path(entity, id, relation), query)
    }

    /// Why a record is as it is: the steps of its local changes, oldest first.
    public func history(of id: String) -> Pages<HistoryStep> {
        let call = Call.get(PathText.path(entity, id, "history"))
        return caller.pages(call) { HistoryStep(json: $0) }
    }

    private func pages(_ path: String, _ query: RecordQuery) -> Pages<Record> {
        caller.pages(Call.get(path, query.items)) { Record(json: $0) }
    }

    // MARK: One record

    /// A record. The problem is `.notFound` if it does not exist, `.notListed` if only the upstream's list could show
    /// it and lacks it, `.notCached` if it is not known whether it exists.
    public func get(_ id: String, _ options: ReadOptions = ReadOptions()) async throws(ClientError) -> Record {
        try await record(Call.get(PathText.path(entity, id), options.items))
    }

    /// The one record that another refers to, such as the `client` of an order.
    public func related(
        of id: String, one relation: String, _ options: ReadOptions = ReadOptions()
    ) async throws(ClientError) -> Record {
        try await record(Call.get(PathText.path(entity, id, relation), options.items))
    }

    /// A record once it has another tag than this one; nil if it kept it for so long (60 s at most).
    public func change(of id: String, from tag: String, within time: Duration) async throws(ClientError) -> Record? {
        var call = Call.get(PathText.path(entity, id))
        call.headers = [
            HeaderField("If-None-Match", tag), HeaderField("Prefer", "wait=\(max(1, time.components.seconds))"),
        ]
        call.wait = time
        let answer = try await caller.json(call)
        guard answer.status != 304 else { return nil }
        return try record(answer, call)
    }

    /// Secret fields of a record, by name: null if the record has none, left out if it cannot be decrypted.
    ///
    /// The daemon logs who asked for which fields. Other fields of the answer are left out here.
    public func reveal(_ fields: [String], of id: String) async throws(ClientError) -> JSONObject {
        let record = try await record(Call.get(PathText.path(entity, id), QueryItem.list("reveal", fields)))
        return JSONObject(fields.compactMap { name in record[name].map { (name, $0) } })
    }

    private func record(_ call: Call) async throws(ClientError) -> Record {
        try record(try await caller.json(call), call)
    }

    private func record(_ answer: Caller.Answer, _ call: Call) throws(ClientError) -> Record {
        guard let json = answer.body.object else { throw .unexpected("\(call.path) answered no record") }
        return Record(json: json, tag: answer.header("ETag"))
    }
}
