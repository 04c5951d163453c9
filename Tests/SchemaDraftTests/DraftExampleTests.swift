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

    /// A list of customers at `data`, and an edit of one that answers this.
    private func edit(_ customer: String, answer: String) throws -> SchemaDraft {
        let content = { (value: String) in "content: { application/json: { example: \(value) } }" }
        let get = "get: { responses: { \"200\": { description: ok, \(content("{ data: [\(customer)] }")) } } }"
        let put =
            "put: { requestBody: { \(content("{ name: Ada, city: York, note: a }")) }, responses: { \"200\": { description: ok, \(content(answer)) } } }"
        return try SchemaDraft.of(
            SmallDocument(schemas: [], paths: ["/customers: { \(get) }", "\"/customers/{id}\": { \(put) }"]).text)
    }

    @Test("An example of a record that leaves out the key is the record, and no object in it is")
    func withoutKey() throws {
        let values = "name: Ada, city: York, note: a, tax: { id: 4, rate: 20 }"
        let customer = "{ id: 7, \(values) }"
        let inside = try edit(customer, answer: "{ data: { \(values) } }")
        #expect(inside.yaml.contains("note], record: data }"), "\(inside.yaml)")
        let bare = try edit(customer, answer: "{ \(values) }")
        #expect(bare.schema["customers"]?.push.update.count == 1)
        #expect(!bare.yaml.contains("record: tax"), "\(bare.yaml)")
    }

    @Test("An object that records have themselves is not the record in an answer")
    func part() throws {
        let settings = "settings: { id: 4, name: a, city: York }"
        let draft = try edit("{ id: 7, name: Ada, city: York, note: a, \(settings) }", answer: "{ \(settings) }")
        #expect(draft.schema["customers"]?.push.update.count == 1)
        #expect(!draft.yaml.contains("record: settings"), "\(draft.yaml)")
    }

    @Test("A record in a list that is called as that of all records is its first element")
    func inList() throws {
        let customer = "{ id: 7, name: Ada, city: York, note: a }"
        let get = { (count: Int) in
            let records = Array(repeating: customer, count: count).joined(separator: ", ")
            return
                "get: { responses: { \"200\": { description: ok, content: { application/json: { example: { objects: [\(records)] } } } } } }"
        }
        let draft = try SchemaDraft.of(
            SmallDocument(
                schemas: [], paths: ["/customers: { \(get(2)) }", "\"/customers/{id}\": { \(get(1)) }"]
            ).text)
        #expect(draft.yaml.contains("at: objects.0"), "\(draft.yaml)")
    }
}
