internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// Searches of records, and changes to records.
extension Handlers {
    /// `GET /v1/search`: full-text search across entities.
    func search(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let query: SearchQuery? = mistakes.collect(nil) { () throws(Problem) in
            guard let query = try parameters.searchQuery("q") else {
                throw .parameter("q", "q is required: at least two letters or digits", .missingParameter)
            }
            return query
        }
        let limit = mistakes.collect(20, try parameters.integer("limit", in: 1...100, else: 20))
        let names = entityNames(parameters, &mistakes)
        guard let query, mistakes.isEmpty else { throw mistakes.problem }
        try await store.catchUpSearch(for: ReadCaller(request))
        let result = try await store.search(query, entities: names, limit: limit, for: ReadCaller(request))
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
        try await change(entity, .create, request)
    }

    /// Creates a record that belongs to another one; the caller may name that one by an earlier key.
    func create(
        _ entity: Entity, _ request: Request, referring field: String, to parent: String, of parents: Entity
    ) async throws -> Response {
        try await change(entity, .createBelow(field: field, key: parent, parents: HeldEntity(parents)), request)
    }

    func update(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        try await change(entity, .update(key: key, merging: PatchFormat.isMergePatch(request)), request)
    }

    func replace(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        try await change(entity, .replace(key: key), request)
    }

    func delete(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        try await change(entity, .delete(key: key), request)
    }

    // MARK: Parts

    var clockOffset: Duration { engine.clockOffset() ?? .zero }

    /// The record as the write leaves it.
    static func shown(_ entity: String, _ key: String, _ transaction: LocalTransaction) throws -> ShownRecord {
        guard let shown = try transaction.shown(entity, key: key) else {
            throw CacheError.notCached(entity: entity, key: key)
        }
        return shown
    }

    func recordBytes(_ entity: Entity, _ key: String) throws -> [UInt8] {
        guard let bytes = try store.record(entity.name, key: key) else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        return bytes
    }
}
