import EntitySchema
import Testing

@testable import SchemaDraft

/// Documents that were written by hand, or made of recorded calls, say little and show much.
@Suite("Drafting from the examples of a document")
struct DraftExampleTests {
    private static let order = "{ id: 7, state: open, total: \"12.50\", placed_at: 2026-01-31T09:00:00Z, tags: [a] }"

    /// A list whose answer is described by this media type, and a creation whose body is.
    private func draft(_ answer: String, body: String = "{ example: { order: { state: open } } }") throws -> SchemaDraft
    {
        let get = "get: { responses: { \"200\": { description: ok, content: { application/json: \(answer) } } } }"
        let post =
            "post: { requestBody: { content: { application/json: \(body) } }, responses: { \"201\": { description: ok } } }"
        return try SchemaDraft.of(SmallDocument(schemas: [], paths: ["/orders: { \(get), \(post) }"]).text)
    }

    @Test(
        "Where no schema says what an answer has, its examples do",
        arguments: [
            "{ example: { data: [\(order)] } }", "{ examples: { one: { value: { data: [\(order)] } } } }",
            "{ schema: { type: object }, example: { data: [\(order)] } }",
            "{ schema: { type: object, example: { data: [\(order)] } } }",
            "{ schema: { type: object, properties: { data: { type: array, items: { type: object } } } }, example: { data: [\(order)] } }",
            "{ example: '{\"data\": [{\"id\": 7, \"state\": \"open\", \"total\": \"12.50\", \"placed_at\": \"2026-01-31T09:00:00Z\", \"tags\": [\"a\"]}]}' }",
        ])
    func answer(_ answer: String) throws {
        let orders = try #require(draft(answer).schema["orders"])
        #expect(orders.pull?.list.records.paths == ["data"])
        #expect(orders.fields.map(\.name) == ["id", "state", "total", "placed_at", "tags"])
        #expect(orders[field: "id"]?.kind == .integer)
        #expect(orders[field: "total"]?.kind == .money)
        #expect(orders[field: "placed_at"]?.kind == .time)
    }

    @Test("Where no schema says what a body has, its example does")
    func body() throws {
        let draft = try draft("{ example: { data: [\(Self.order)] } }")
        #expect(draft.schema["orders"]?.push.create.first?.sendable == ["state"])
        #expect(draft.yaml.contains("body: { order: $fields }") || draft.yaml.contains("body: { order: \"$fields\" }"))
    }

    @Test("An example adds nothing to an object whose members the document lists, and counts less than its types")
    func said() throws {
        let record = "{ type: object, properties: { id: { type: string }, total: { type: number } } }"
        let draft = try draft(
            "{ schema: { type: object, properties: { data: { type: array, items: \(record) } } }, example: { data: [\(Self.order)] } }"
        )
        let orders = try #require(draft.schema["orders"])
        #expect(orders.fields.map(\.name) == ["id", "total"])
        #expect(orders[field: "id"]?.kind == .string)
    }

    @Test("The members of an object with any names are data, not fields")
    func map() throws {
        let counts = "{ type: object, additionalProperties: { type: integer }, example: { \"5\": 2 } }"
        let record = "{ type: object, properties: { id: { type: integer }, counts: \(counts) } }"
        let draft = try draft(
            "{ schema: { type: array, items: \(record) }, example: [{ id: 1, counts: { \"5\": 2 } }] }")
        #expect(draft.schema["orders"]?.fields.map(\.name) == ["id", "counts"])
    }

    @Test("OpenAPI 2 has the examples of an answer under their media types")
    func swagger() throws {
        let draft = try SchemaDraft.of(
            """
            swagger: "2.0"
            info: { title: Shop, version: "1" }
            host: api.shop.test
            paths:
              /orders:
                get:
                  responses: { "200": { description: ok, examples: { application/json: [\(Self.order)] } } }
            """)
        #expect(draft.schema["orders"]?.key == "id")
    }

    @Test("A path whose end names the format is that of JSON", arguments: [".{format}", ".{_format}", "(.{format})"])
    func format(_ ending: String) throws {
        let order = "Order: { type: object, properties: { id: { type: integer }, note: { type: string } } }"
        let draft = try SchemaDraft.of(
            SmallDocument(
                schemas: [order],
                paths: [
                    "\"/orders\(ending)\": { \(SmallDocument.list("Order")) }",
                    "\"/orders/{id}\(ending)\": { \(SmallDocument.single("Order")), \(SmallDocument.call("put", "Order", "Order")) }",
                ]
            ).text)
        #expect(draft.schema["orders"]?.pull?.path == "/orders.json")
        #expect(draft.schema["orders"]?.push.update.first?.call == "PUT /orders/{id}.json")
    }
}
