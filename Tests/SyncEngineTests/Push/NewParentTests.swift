import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// Orders and their items, which are created one after the other before any of them is sent.
@Suite("A new record below a new parent")
struct NewParentTests {
    private func schema(_ path: String) -> String {
        """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          orders:
            key: { field: id, made: server }
            fields: { id: { type: integer }, number: { type: string }, title: { type: string } }
            pull: { path: /orders }
            push: { create: { call: POST /orders, fields: [title], look_up: { match: [title] } } }
          items:
            key: { field: id, made: server }
            fields:
              id: { type: integer }
              order_id: { type: reference, to: orders, index: true }
              title: { type: string }
            pull: { path: /items, record: none }
            push: { create: { call: "POST \(path)", fields: [title], look_up: { match: [title] } } }
          notes:
            key: { field: id, made: server }
            fields:
              id: { type: integer }
              item_id: { type: reference, to: items, index: true }
              text: { type: string }
            pull: { path: /notes, record: none }
            push:
              create: { call: "POST /orders/{item.order_id}/items/{item_id}/notes", fields: [text], look_up: { match: [text] } }
        """
    }

    private func server() -> ShapedServer {
        ShapedServer([:]) { call, records in
            guard call.method == "POST" else { return (200, .array([JSONText]())) }
            let key = 7 + records.count
            records["\(key)"] = call.body
            let made = call.path == "/orders" ? call.body.setting("number", to: "N7") : call.body
            return (201, made.setting("id", to: .integer(key)))
        }
    }

    @Test(
        "is sent to the address that the parent has by then, also by a value that the upstream gives the parent",
        arguments: ["/orders/{order_id}/items", "/orders/{order.number}/items"])
    func created(_ path: String) async throws {
        let server = server()
        let plan = try EntitySchema(yaml: schema(path), file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        let test = try TestEngine(remote: upstream, schema: schema(path))
        let now = test.clock.timestamp
        func create(_ entity: String, _ body: JSONText) async throws -> String {
            try await test.store.create(entity, body: body, at: now)
        }
        let order = try await create("orders", .object(["title": "O"]))
        let item = try await create("items", .object(["order_id": .string(order), "title": "T"]))
        _ = try await create("notes", .object(["item_id": .string(item), "text": "X"]))
        try await test.running {
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            let parent = path.contains("number") ? "N7" : "7"
            #expect(
                server.changes.map { "\($0.path) \($0.body.text)" } == [
                    #"/orders {"title":"O"}"#, #"/orders/\#(parent)/items {"title":"T"}"#,
                    #"/orders/7/items/8/notes {"text":"X"}"#,
                ])
            #expect(try test.record("8", "items")?["order_id"]?.plain == "7")
        }
    }
}
