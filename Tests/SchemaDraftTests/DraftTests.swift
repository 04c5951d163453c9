import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting from a document")
struct DraftTests {
    private static let shop = """
        openapi: 3.0.3
        info: { title: Corner Shop API, version: "1" }
        servers: [{ url: "https://api.shop.example/v1/" }]
        security: [{ key: [] }]
        components:
          securitySchemes: { key: { type: apiKey, in: header, name: X-Api-Key } }
          schemas:
            Customer:
              type: object
              properties: { id: { type: string, format: uuid }, name: { type: string } }
            Order:
              type: object
              required: [customer_id]
              properties:
                id: { type: integer, readOnly: true }
                customer_id: { type: string, format: uuid }
                status: { type: string, enum: [open, in_progress] }
                total: { type: number }
                updated_at: { type: string, format: date-time, readOnly: true }
                count: { type: integer }
        paths:
          /customers:
            get: { responses: { "200": { content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Customer" } } } } } } }
          /orders:
            get:
              parameters:
                - { name: page, in: query, schema: { type: integer } }
                - { name: per_page, in: query, schema: { type: integer, maximum: 50 } }
                - { name: updated_since, in: query, schema: { type: string, format: date-time } }
              responses:
                "200":
                  content:
                    application/json:
                      schema:
                        type: object
                        properties:
                          data: { type: array, items: { $ref: "#/components/schemas/Order" } }
                          meta: { type: object, properties: { total: { type: integer } } }
            post:
              requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
              responses: { "201": { content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } } }
          /orders/{id}:
            get: { responses: { "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } } } }
            patch:
              requestBody: { content: { application/merge-patch+json: { schema: { $ref: "#/components/schemas/Order" } } } }
              responses: { "200": { description: ok } }
            delete: { responses: { "204": { description: gone } } }
          /orders/{id}/lines:
            get:
              responses:
                "200":
                  content:
                    application/json:
                      schema: { type: array, items: { type: object, properties: { id: { type: integer }, text: { type: string } } } }
        """

    private func orders() throws -> Entity { try #require(SchemaDraft.of(Self.shop).schema["orders"]) }

    @Test("A list is read page by page, at its place, with its total")
    func list() throws {
        let pull = try #require(orders().pull)
        #expect(pull.path == "/orders")
        #expect(pull.list.records.paths == ["data"])
        #expect(pull.list.style == .page(parameter: "page", pages: nil))
        #expect(pull.list.size == "per_page")
        #expect(pull.list.pageSize == 50)
        #expect(pull.list.total?.paths == ["meta.total"])
    }

    @Test("Changes are asked for by the parameter and field that are named so")
    func since() throws {
        let pull = try #require(orders().pull)
        #expect(pull.changedAt == "updated_at")
        #expect(pull.isSince)
    }

    @Test("Fields have the types of the document, and references the lists that their names say")
    func fields() throws {
        let orders = try orders()
        #expect(orders[field: "customer_id"]?.kind == .reference(to: "customers"))
        #expect(orders[field: "total"]?.kind == .money)
        #expect(orders[field: "updated_at"]?.kind == .time)
        guard case .enum(let values) = orders[field: "status"]?.kind else { return #expect(Bool(false), "no enum") }
        #expect(values.map(\.label) == ["Open", "In progress"])
    }

    @Test("A field whose name is taken by the local API gets another, and keeps its place")
    func reserved() throws { #expect(try orders()[field: "count_field"]?.source == "count") }

    @Test("A member that the document calls write-only is only sent")
    func writeOnly() throws {
        let total = "total: { type: number }"
        let text = Self.shop.replacing(total, with: "\(total)\n        note: { type: string, writeOnly: true }")
        let fields = try #require(SchemaDraft.of(text).schema["orders"]).fields
        #expect(fields.filter(\.isWriteOnly).map(\.name) == ["note"])
    }

    @Test("Creation, change and deletion follow the document")
    func writes() throws {
        let push = try orders().push
        #expect(push.create.first?.call == "POST /orders")
        #expect(push.update.first?.encoding == .mergePatch)
        #expect(push.delete.first?.call == "DELETE /orders/{id}")
        #expect(try orders().keyForm == .server)
        #expect(push.update.first?.sendable?.contains("updated_at") == false)
    }

    @Test("A list below a record comes with it")
    func below() throws {
        let detail = try #require(orders().pull?.details.first)
        #expect(detail.entity == "lines")
        #expect(detail.path?.source == "/orders/{id}/lines")
    }

    @Test("A list without a call for one record has none")
    func noRecord() throws {
        #expect(try SchemaDraft.of(Self.shop).schema["customers"]?.pull?.single.isServed == false)
    }

    @Test("Address and sign-in come from the document")
    func upstream() throws {
        let plan = try SchemaDraft.of(Self.shop).schema.upstream
        #expect(plan.baseURL == "https://api.shop.example/v1")
        #expect(plan.tokenPlace == .header(name: "X-Api-Key", before: "", after: ""))
    }

    @Test("Only what is asked for is drafted, with what it is below")
    func only() throws {
        let draft = try SchemaDraft.of(Self.shop, only: ["lines"])
        #expect(draft.schema.entities.map(\.name) == ["orders", "lines"])
        #expect(draft.schema["orders"]?[field: "customer_id"]?.kind == .string)
    }

    @Test("What is below a list that was not asked for was not asked for either, and is named once")
    func notAsked() throws {
        let draft = try SchemaDraft.of(Self.shop, only: ["customers"])
        #expect(draft.leftOut.filter { $0.path.hasPrefix("/orders") }.map(\.why) == [.notAsked, .notAsked])
    }

    @Test("A name that is none gets a suggestion")
    func unknownName() throws {
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(Self.shop, only: ["order"]) }
    }

    @Test("Answers to questions correct the draft")
    func answers() throws {
        var drafter = try SchemaDrafter(
            OpenAPIDocument(DocumentParser.value(of: Array(Self.shop.utf8))), source: "test")
        let signIn = try #require(drafter.questions.first { $0.subject == .signIn })
        #expect(signIn.likely == "header:X-Api-Key")
        try drafter.take("basic", to: signIn)
        try drafter.take("customers", to: try #require(drafter.questions.first))
        let schema = try drafter.draft().schema
        #expect(schema.upstream.tokenPlace == .basic)
        #expect(schema.entities.map(\.name) == ["customers"])
    }

    @Test(
        "the time of the last change is found by its name, in any spelling",
        arguments: ["updatedAt", "changed", "last_modified_date_time", "date_modified_gmt", "mtime", "lastEditedOn"])
    func changeTime(name: String) throws {
        let yaml = Self.shop.replacing("updated_at:", with: "\(name):").replacing(
            "updated_since", with: "changed_since")
        #expect(try SchemaDraft.of(yaml).schema["orders"]?.pull?.changedAt == name)
    }

    @Test(
        "a field whose name says more than the time of a change is not taken for it",
        arguments: ["updated_by", "change_reason", "price_changed", "exchanged", "lastupdater"])
    func noChangeTime(name: String) throws {
        let yaml = Self.shop.replacing("updated_at:", with: "\(name):")
        #expect(try SchemaDraft.of(yaml).schema["orders"]?.pull?.isSince == false)
    }
}
