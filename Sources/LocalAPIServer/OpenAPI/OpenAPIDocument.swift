internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The local API in OpenAPI 3.1, generated from the schema: exactly the calls that this daemon answers.
struct OpenAPIDocument {
    let schema: EntitySchema
    let version: String
    /// In the order of the document.
    let calls: [OpenAPICall]

    /// Throws only for a mistake in `FixedSchemas` or `FixedParameters`, which tests find.
    func json() throws -> JSONText {
        .object([
            "openapi": "3.1.0",
            "info": .object([
                "title": .string("repairminder-sync: \(schema.name)"), "version": .string(version),
                "description": "A local cache of a remote API. Reads and writes work at once, online or offline.",
            ]),
            "servers": .array([.object(["url": "/"])]),
            // A caller that the kernel identifies needs no token.
            "security": .array([.object([:]), .object(["token": .array([])])]),
            "paths": .object(members: paths),
            "components": .object([
                "schemas": .object(
                    members: try FixedSchemas.all() + SchemaComponents.schemas().members
                        + BatchComponents(schema: schema).all() + PageComponents.schemas().members
                        + schema.entities.flatMap { RecordSchemas(schema: schema, entity: $0).all }),
                "parameters": .object(members: try ParameterComponents(schema: schema).all()),
                "headers": HeaderComponents.all,
                "responses": .object(members: problems),
                "securitySchemes": .object(["token": .object(["type": "http", "scheme": "bearer"])]),
            ]),
        ])
    }

    private var paths: [(key: String, value: JSONText)] {
        var paths: [(key: String, calls: [OpenAPICall])] = []
        for call in calls {
            if let index = paths.firstIndex(where: { $0.key == call.path }) {
                paths[index].calls.append(call)
            } else {
                paths.append((call.path, [call]))
            }
        }
        return paths.map { path in
            (path.key, .object(members: path.calls.map { (key: $0.method.lowercased(), value: $0.json(among: calls)) }))
        }
    }

    /// The statuses that requests get which cannot be read, or are too many.
    private static let unread: Set = [400, 408, 413, 414, 431, 503]

    private var problems: [(key: String, value: JSONText)] {
        let schema = OpenAPICall.reference("schemas", "Problem")
        let statuses = Set(calls.flatMap(\.problemStatuses)).sorted()
        return statuses.map { status in
            let response = JSONText.object([
                "description": .string(ProblemCode.meaning(of: status)),
                "content": .object(["application/problem+json": .object(["schema": schema])]),
            ])
            let headers = HeaderComponents.references(
                [], required: OpenAPICall.headers(of: status), isRead: !Self.unread.contains(status))
            return (key: String(status), value: response.setting("headers", to: headers))
        }
    }
}
