import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting rows of PostgREST")
struct DraftPostgRESTTests {
    /// A table with these columns, in YAML, as PostgREST describes it.
    private func draft(_ columns: [(name: String, what: String)]) throws -> SchemaDraft {
        let filters = columns.map { "{ name: \($0.name), in: query, required: false, type: string }" }
        let headers = ["Range", "Range-Unit", "Prefer"].map { "{ name: \($0), in: header, type: string }" }
        let pages = ["select", "order", "offset", "limit"].map { "{ name: \($0), in: query, type: string }" }
        let row = "schema: { $ref: \"#/definitions/orders\" }"
        let body = "{ name: orders, in: body, required: false, \(row) }"
        func call(_ method: String, _ parameters: [String], _ answer: String) -> String {
            "    \(method): { parameters: [\(parameters.joined(separator: ", "))], responses: { \(answer) } }"
        }
        let list = "\"200\": { description: OK, schema: { type: array, items: { $ref: \"#/definitions/orders\" } } }"
        let done = "\"204\": { description: No Content }"
        let head = [
            "swagger: \"2.0\"", "info: { title: standard public schema, version: \"12.2\" }", "host: db.shop.com",
            "schemes: [https]", "consumes: [application/json]",
            "produces: [application/json, application/vnd.pgrst.object+json]", "definitions:", "  orders:",
            "    type: object", "    required: [title, created_at]", "    properties:",
        ]
        let properties = columns.map { "      \($0.name): { \($0.what) }" }
        let calls = [
            "paths:", "  /orders:", call("get", filters + pages + headers, list),
            call("post", [body, headers[2]], "\"201\": { description: Created }"),
            call("patch", filters + [body, headers[2]], done), call("delete", filters + [headers[2]], done),
        ]
        return try SchemaDraft.of((head + properties + calls).joined(separator: "\n"))
    }

    private static let key = "type: integer, format: bigint, description: \"This is a Primary Key.<pk/>\""
    private static let time = "type: string, format: timestamp with time zone"
    private static let columns: [(name: String, what: String)] = [
        ("id", "type: integer"), ("order_no", key), ("title", "type: string, format: text"),
        ("created_at", "\(time), default: now()"), ("updated_at", time),
    ]

    @Test("A change names the row in a condition, never all rows")
    func row() throws {
        let draft = try draft(Self.columns)
        let orders = try #require(draft.schema["orders"], "\(draft.yaml)")
        #expect(orders.key == "order_no")
        #expect(orders.pull?.single.path.source == "/orders?order_no=eq.{order_no}")
        #expect(orders.push.update.map(\.call) == ["PATCH /orders?order_no=eq.{order_no}"], "\(draft.yaml)")
        #expect(orders.push.delete.map(\.call) == ["DELETE /orders?order_no=eq.{order_no}"])
        #expect(orders.push.create.first?.sendable?.contains("created_at") == false)
        #expect(draft.yaml.contains("DELETE /orders?order_no=eq.{order_no}\", record: \"0\""), "\(draft.yaml)")
        #expect(draft.yaml.contains("Prefer: \"return=representation, count=exact\""))
    }

    @Test("Rows come in the order of their keys, with the length of the list in a header, and what changed by its time")
    func list() throws {
        let draft = try draft(Self.columns)
        let list = try #require(draft.schema["orders"]?.pull?.list, "\(draft.yaml)")
        #expect(list.style == .offset(parameter: "offset") && list.size == "limit", "\(list)")
        #expect(draft.yaml.contains("order: order_no.asc"))
        #expect(draft.yaml.contains("total: { header: Content-Range }"))
        #expect(draft.yaml.contains("since: { param: updated_at, field: updated_at, value: \"gte.{$since}\" }"))
    }

    @Test("A key of several columns is left out with what to write")
    func parts() throws {
        let error = #expect(throws: SchemaDraftError.self) {
            try draft([("order_no", Self.key), ("line_no", Self.key), ("title", "type: string")])
        }
        #expect(error?.message.contains("only order_no, line_no together identify its records") == true)
    }
}
