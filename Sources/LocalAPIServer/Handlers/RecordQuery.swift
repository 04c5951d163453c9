internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// What a read of one record asks for besides the record.
struct RecordQuery {
    var include: [Inclusion] = []
    var labels = false
    /// Whether to show the upstream's values of pending fields too.
    var server = false
    /// The only fields to show, besides the key; nil for the whole record.
    var fields: [String]?
    var freshness = Freshness.cachedFirst
    /// Who asks; of interest only for what may take long.
    var caller = ReadCaller.daemon

    /// Costs nothing for a request without a query. Throws all its mistakes, and those of `handlers`, at once.
    static func of(_ request: Request, _ entity: Entity, _ handlers: Handlers) throws -> RecordQuery {
        guard request.query != nil else {
            try handlers.mistakes.throwAny()
            return RecordQuery()
        }
        return try RecordQuery(request, entity, handlers)
    }

    /// Of a request that asks for nothing besides the record.
    init() {}

    private init(_ request: Request, _ entity: Entity, _ handlers: Handlers) throws {
        let parameters = try QueryParameters(request)
        var mistakes = handlers.mistakes
        caller = ReadCaller(request)
        include = mistakes.collect([], try parameters.inclusions(of: entity, in: handlers.schema))
        labels = mistakes.collect(false, try parameters.flag("labels"))
        server = mistakes.collect(false, try parameters.flag("server"))
        fields = mistakes.collect(nil, try parameters.fields())
        freshness = mistakes.collect(.cachedFirst, try Freshness(parameters, request))
        if let fields {
            let unknown = try handlers.store.mistakes(in: ListQuery(entity: entity.name, fields: fields))
            mistakes.add(unknown.map { .parameter($0.field, $0.message) })
        }
        try mistakes.throwAny()
    }

    /// The record with these fields alone, and what is shown beside them.
    ///
    /// Its version stays that of the whole record, so that its tag does for `If-Match`.
    func narrowed(_ shown: ShownRecord, _ entity: Entity) -> ShownRecord {
        guard let fields else { return shown }
        let record = JSONText(validated: shown.bytes)
        let names = [entity.key] + fields.filter { $0 != entity.key }
        var members = names.map { (key: $0, value: entity.value(of: $0, in: record) ?? .null) }
        for name in ["_sync", "_labels", "_include"] {
            guard var value = record[name] else { continue }
            if name == "_labels" { value = .object(members: value.members.filter { names.contains($0.key) }) }
            members.append((name, value))
        }
        var narrowed = shown
        narrowed.bytes = Array(JSONText.object(members: members).bytes)
        return narrowed
    }
}
