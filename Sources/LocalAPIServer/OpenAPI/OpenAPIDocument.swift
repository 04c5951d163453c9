internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The local API in OpenAPI 3.1, made from the schema: exactly the calls that this daemon answers.
struct OpenAPIDocument {
    let schema: EntitySchema
    let version: String

    /// Throws only for a mistake in `FixedComponents`, which a test would find.
    func json() throws -> JSONText {
        .object([
            "openapi": "3.1.0",
            "info": .object([
                "title": .string("repairminder-sync: \(schema.name)"), "version": .string(version),
                "description": "A cache of a remote API that reads and writes at once, online or not.",
            ]),
            "servers": .array([.object(["url": "/"])]),
            // Whom the kernel knows needs no token.
            "security": .array([.object([:]), .object(["token": .array([])])]),
            "paths": .object(members: paths),
            "components": .object([
                "schemas": .object(
                    members: try FixedComponents.schemas().members
                        + schema.entities.flatMap { RecordSchemas(entity: $0).all }),
                "parameters": try FixedComponents.parameters(), "responses": .object(members: problems),
                "securitySchemes": .object(["token": .object(["type": "http", "scheme": "bearer"])]),
            ]),
        ])
    }

    var calls: [OpenAPICall] {
        OpenAPICall.fixed + (schema.dashboard == nil ? [] : [.dashboard])
            + schema.entities.flatMap { EntityCalls(schema: schema, entity: $0).all }
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
            (path.key, .object(members: path.calls.map { (key: $0.method.lowercased(), value: $0.json) }))
        }
    }

    private var problems: [(key: String, value: JSONText)] {
        let schema = OpenAPICall.reference("schemas", "Problem")
        return OpenAPICall.problemMeaning.sorted { $0.key < $1.key }.map { status, meaning in
            (
                String(status),
                .object([
                    "description": .string(meaning),
                    "content": .object(["application/problem+json": .object(["schema": schema])]),
                ])
            )
        }
    }
}

extension LocalAPIServer {
    func openAPI() throws -> Response {
        .json(200, Array(try OpenAPIDocument(schema: schema, version: about.version).json().bytes))
    }
}
