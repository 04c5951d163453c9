import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting by paths and what they need")
struct DraftPathTests {
    private typealias Document = SmallDocument

    private static let thing =
        "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, rank: { type: integer } } }"

    private func draft(_ schemas: [String] = [thing], _ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
    }

    @Test("If no call reads one record there, one that changes such a record has its path")
    func changedOnly() throws {
        let body = "Body: { type: object, properties: { title: { type: string }, rank: { type: integer } } }"
        let content = "content: { application/json: { schema: { $ref: \"#/components/schemas/Body\" } } }"
        func draft(_ more: [String]) throws -> [String]? {
            let paths = [
                "/api/shops/{shop_id}/things: { \(Document.list("Thing")) }",
                "/api/things/{thing_id}: { patch: { requestBody: { \(content) }, responses: {} }, \(Document.deletion) }",
            ]
            let push = try self.draft([Self.thing, body], paths + more).schema["things"]?.push
            return push.map { ($0.update + $0.delete).map(\.call) }
        }
        #expect(try draft([]) == ["PATCH /api/things/{id}", "DELETE /api/things/{id}"])
        // Of two such lists, it is unclear whose records they are.
        #expect(try draft(["/api/shelves/{shelf_id}/things: { \(Document.list("Thing")) }"]) == [])
    }

    @Test("A name that is a path to the record is no key, and the report says how to write it")
    func resourceName() throws {
        let name = "name: { type: string, description: \"Its name.\\n Format: shelves/{shelf}/books/{book}\" }"
        let book = "Book: { type: object, properties: { \(name), code: { type: string } } }"
        let draft = try draft(
            [Self.thing, book],
            [
                "/things: { \(Document.list("Thing")) }", "/books: { \(Document.list("Book")) }",
                "/books/{book}: { \(Document.single("Book")), \(Document.deletion) }",
            ])
        #expect(draft.paths.map(\.path) == ["/things"])
        #expect(draft.leftOut.first?.reason.hasSuffix("key: { field: id, from: { link: name } }") == true)
    }

    @Test("What begins a session is no list", arguments: ["/auth/login", "/auth/refresh"])
    func session(_ path: String) throws {
        let draft = try draft(
            [Self.thing], ["/things: { \(Document.list("Thing")) }", "\(path): { \(Document.list("Thing")) }"])
        #expect(draft.paths.map(\.path) == ["/things"])
    }

    @Test("A list inside a record that is called like the path is none, unless the record says nothing else")
    func inside() throws {
        func get(_ members: String) -> String {
            let lines = "lines: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
            let cart = "cart: { type: object, properties: { \(members), \(lines) } }"
            return "get: { \(Document.answers("type: object, properties: { \(cart) }")) }"
        }
        let things = "/things: { \(Document.list("Thing")) }"
        let record = try draft([Self.thing], [things, "/cart: { \(get("currency: { type: string }")) }"])
        #expect(record.leftOut.map(\.reason) == ["it answers one record, which contains cart.lines"], "\(record.yaml)")
        let list = try draft([Self.thing], [things, "/cart: { \(get("total: { type: integer }")) }"])
        #expect(list.paths.map(\.path) == ["/things", "/cart"], "\(list.yaml)")
    }

    @Test("What a list needs and takes only some values is a setting of its own")
    func choices() throws {
        func parameter(_ values: String, _ name: String = "kind") -> String {
            let schema = "{ type: string, enum: [\(values)] }"
            let shop = "{ name: shop, in: query, required: true, schema: { type: string } }"
            return "parameters: [{ name: \(name), in: query, required: true, schema: \(schema) }, \(shop)],"
        }
        let rack = "Rack: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let draft = try draft(
            [Self.thing, rack],
            [
                "/things: { \(Document.list("Thing", parameter("sold, new"))) }",
                "/racks: { \(Document.list("Rack", parameter("in, out", "direction"))) }",
            ])
        #expect(draft.settings.sorted() == ["racks_direction", "shop", "things_kind"], "\(draft.yaml)")
    }

    @Test("An order that a list needs is one of those that the document lists")
    func order() throws {
        func parameter(_ name: String, _ values: String) -> String {
            "{ name: \(name), in: query, required: true, schema: { type: string, enum: [\(values)] } }"
        }
        let order = "parameters: [\(parameter("sort", "title, rank")), \(parameter("order", "desc, asc"))],"
        let others = ["Shop", "Rack"].map { "\($0): { type: object, properties: { id: { type: integer } } }" }
        let call = Document.call("post", "Thing", "Thing")
        let draft = try draft(
            [Self.thing] + others,
            [
                "/shops: { \(Document.list("Shop")) }", "/racks: { \(Document.list("Rack", order)) }",
                "/shops/{shop_id}/things: { \(Document.list("Thing", order)), \(call) }",
            ])
        #expect(draft.settings.isEmpty, "\(draft.yaml)")
        #expect(draft.yaml.contains("detail: { path: \"/shops/{id}/things?sort=title&order=asc\""))
        #expect(draft.yaml.contains("path: \"/shops/{shop_id}/things?sort=title&order=asc\" }"))
        #expect(draft.yaml.contains("sort: title"))
    }
}
