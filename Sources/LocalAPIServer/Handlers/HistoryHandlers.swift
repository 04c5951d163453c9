internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Why a record is as it is.
extension Handlers {
    /// Oldest first.
    func history(of entity: Entity, _ key: String, _ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        try parameters.requireOnly(["limit", "cursor"])
        let limit = try parameters.integer("limit", in: 1...1000, else: 50)
        let after = try parameters.position("cursor") ?? 0
        let (entries, next) = try store.history(of: entity.name, key: key, after: after, limit: limit)
        let document = JSONText.object([
            "data": .array(entries), "next": .string(next.map { String($0) }),
        ])
        return .json(200, Array(document.bytes))
    }
}
