internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Full-text search across entities.
extension Handlers {
    func search(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        try parameters.requireOnly(["q", "entity", "limit"])
        guard let query = try parameters.searchQuery("q") else {
            throw Problem.badRequest("q is required: at least two letters or digits", field: "q")
        }
        let limit = try parameters.integer("limit", in: 1...100, else: 20)
        let names = try parameters.value("entity")?.split(separator: ",").map(String.init)
        for name in names ?? [] { _ = try entity(name) }
        try await store.renewSearch()
        let result = try store.search(query, entities: names, limit: limit)
        let hits = result.hits.map { hit in
            JSONText.object([
                "entity": .string(hit.entity), "id": .string(hit.key), "title": .string(hit.title),
                "snippet": .string(hit.snippet),
            ])
        }
        let answer = JSONText.object(["data": .array(hits), "complete": .boolean(result.isComplete)])
        return .json(200, Array(answer.bytes))
    }
}
