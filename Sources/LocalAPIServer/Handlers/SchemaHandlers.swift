internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The schema that the daemon runs with. It needs no cache, so it is served before the first sync too.
extension Handlers {
    /// `GET /v1/schema`.
    func schemaDescription(_ request: Request) throws -> Response {
        .tagged(Array(SchemaDescription.json(of: schema).bytes), for: request)
    }

    /// `GET /v1/schema/{entity}`.
    func schemaDescription(of name: String, _ request: Request) throws -> Response {
        .tagged(Array(SchemaDescription.json(of: try entity(name)).bytes), for: request)
    }
}
