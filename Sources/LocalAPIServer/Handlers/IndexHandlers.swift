internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Where to begin: what there is, with its addresses, and the schema. No cache is needed for it, so it is served before the
/// first sync too.
extension Handlers {
    /// `GET /v1`.
    func index(_ request: Request) throws -> Response {
        var response = Response.tagged(Array(indexDocument.bytes)).unlessKnown(to: request)
        response.headers.append(
            ("Link", "</openapi.json>; rel=\"service-desc\", <\(Self.manual)>; rel=\"service-doc\""))
        return response
    }

    /// The manual, where the package installs it.
    private static let manual = "file:///usr/share/doc/repairminder-sync/api.md"

    private var indexDocument: JSONText {
        let entities = schema.entities.map { entity in
            JSONText.object([
                "name": .string(entity.name), "href": .string("/v1/\(entity.name)"),
                "schema": .string("/v1/schema/\(entity.name)"),
            ])
        }
        let own = calls.filter { call in !schema.entities.contains { $0.owns(call.path) } }
        let calls = own.map { call in
            JSONText.object([
                "method": .string(call.method), "path": .string(call.path), "summary": .string(call.operation.summary),
            ])
        }
        return .object([
            "name": .string(schema.name), "title": .string(schema.title), "version": .string(about.version),
            "entities": .array(entities), "calls": .array(calls), "description": "/openapi.json",
            "docs": .string(Self.manual),
        ])
    }

    // MARK: The schema

    /// `GET /v1/schema`.
    func schemaDescription(_ request: Request) throws -> Response {
        .tagged(Array(SchemaDescription.json(of: schema).bytes)).unlessKnown(to: request)
    }

    /// `GET /v1/schema/{entity}`.
    func schemaDescription(of name: String, _ request: Request) throws -> Response {
        .tagged(Array(SchemaDescription.json(of: try entity(name)).bytes)).unlessKnown(to: request)
    }
}

extension Entity {
    /// Whether the path is that of its records, or below it.
    fileprivate func owns(_ path: String) -> Bool { path == "/v1/\(name)" || path.hasPrefix("/v1/\(name)/") }
}
