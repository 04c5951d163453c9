internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// Lists and searches of records, and changes to records.
extension Handlers {
    func list(_ entity: Entity, _ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        return try await listed(parameters.listQuery(of: entity), parameters, request)
    }

    func list(_ relation: Relation, of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let other = try self.entity(relation.entity)
        let parameters = try QueryParameters(request)
        var query = try parameters.listQuery(of: other)
        let record = try record(entity, key)
        // Uses the record's current key; the caller may send an earlier one.
        let (field, value) =
            switch relation.kind {
            case .many(let field, _): (field, record[entity.key])
            case .one(let field): (other.key, entity.value(of: field, in: record))
            }
        query.filters.append(ListQuery.Filter(field: field, comparison: .equal, values: [value?.plain ?? ""]))
        return try await listed(query, parameters, request)
    }

    /// `GET /v1/search`: full-text search across entities.
    func search(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        guard let query = try parameters.searchQuery("q") else {
            throw Problem.parameter("q", "q is required: at least two letters or digits", .missingParameter)
        }
        let limit = try parameters.integer("limit", in: 1...100, else: 20)
        let names = try parameters.value("entity")?.split(separator: ",").map(String.init)
        for name in names ?? [] { _ = try entity(name) }
        try await store.catchUpSearch()
        let result = try store.search(query, entities: names, limit: limit)
        return .json(200, Self.bytes(of: result))
    }

    private static func bytes(of result: SearchResult) -> [UInt8] {
        var bytes = Array("{\"data\":[".utf8)
        bytes.reserveCapacity(200 * result.hits.count + 40)
        for (index, hit) in result.hits.enumerated() {
            bytes += (index == 0 ? "{\"entity\":" : ",{\"entity\":").utf8
            JSONText.append(hit.entity, to: &bytes)
            bytes += ",\"id\":".utf8
            JSONText.append(hit.key, to: &bytes)
            bytes += ",\"title\":".utf8
            JSONText.append(hit.title, to: &bytes)
            bytes += ",\"snippet\":".utf8
            JSONText.append(hit.snippet, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += "],\"complete\":\(result.isComplete)}".utf8
        return bytes
    }

    func create(_ entity: Entity, _ request: Request) async throws -> Response {
        let body = try object(request)
        return try await created(entity, request) { try $0.create(entity.name, body) }
    }

    /// Creates a record that belongs to another one; the caller may name that one by an earlier key.
    func create(
        _ entity: Entity, _ request: Request, referring field: String, to parent: String, of parents: Entity
    ) async throws -> Response {
        let body = try object(request)
        return try await created(entity, request) { transaction in
            try transaction.create(entity.name, body, referring: field, to: parent, of: parents)
        }
    }

    func update(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let body = try object(request)
        let conditions = try WriteConditions(request)
        let merging = PatchFormat.isMergePatch(request)
        return try await change(.update, of: entity, request) { transaction in
            try conditions.check(entity, key, transaction)
            try transaction.update(entity.name, key: key, body, merging: merging, expecting: conditions.expected)
            return (key, .record(try Self.shown(entity, key, transaction)))
        }
    }

    func replace(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let body = try object(request)
        let conditions = try WriteConditions(request)
        return try await change(.update, of: entity, request) { transaction in
            try conditions.check(entity, key, transaction)
            let isNew = try transaction.replace(
                entity.name, key: key, body, expecting: conditions.expected, mustExist: conditions.mustExist)
            let shown = try Self.shown(entity, key, transaction)
            return (key, isNew ? .created(shown, entity: entity.name, key: key) : .record(shown))
        }
    }

    func delete(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let conditions = try WriteConditions(request)
        return try await change(.delete, of: entity, request) { transaction in
            try conditions.check(entity, key, transaction)
            try transaction.delete(entity.name, key: key, expecting: conditions.expected)
            return (key, .done)
        }
    }

    // MARK: Parts

    var clockOffset: Duration { engine.clockOffset() ?? .zero }

    private func created(
        _ entity: Entity, _ request: Request, _ create: @escaping @Sendable (LocalTransaction) throws -> String
    ) async throws -> Response {
        try await change(.create, of: entity, request) { transaction in
            let key = try create(transaction)
            return (key, .created(try Self.shown(entity, key, transaction), entity: entity.name, key: key))
        }
    }

    /// The record as the write leaves it.
    static func shown(_ entity: Entity, _ key: String, _ transaction: LocalTransaction) throws -> ShownRecord {
        guard let shown = try transaction.shown(entity.name, key: key) else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        return shown
    }

    func recordBytes(_ entity: Entity, _ key: String) throws -> [UInt8] {
        guard let bytes = try store.record(entity.name, key: key) else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        return bytes
    }

    private func record(_ entity: Entity, _ key: String) throws -> JSONText {
        try JSONText(recordBytes(entity, key))
    }

    /// The body as a JSON object. Throws for an empty body too.
    func object(_ request: Request) throws(Problem) -> JSONText {
        do {
            let body = try JSONText(request.body)
            guard body.kind == .object else { throw Problem.body("", "expected a JSON object") }
            return body
        } catch let error as JSONError {
            throw Problem(.malformedJSON, "the body is \(error)")
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.malformedJSON, "\(error)")
        }
    }
}
