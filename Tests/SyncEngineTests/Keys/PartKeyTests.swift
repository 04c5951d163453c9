import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// Lines below their orders: neither the orders nor answers to changes repeat in a line which order has it.
@Suite("A key with a part that only the parent has", .timeLimit(.minutes(10)))
struct PartKeyTests {
    private static let details = ["embedded: lines", #"path: "/orders/{id}/lines", when_changed: any"#]

    private func schema(_ detail: String) -> String {
        """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          orders:
            fields: { id: { type: integer }, title: { type: string } }
            pull: { path: /orders, detail: { into: lines, \(detail) } }
          lines:
            key: { field: id, from: [order_id, line_no] }
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true }
              line_no: { type: integer }
              text: { type: string }
            push:
              create: { call: "POST /orders/{order_id}/lines", fields: [text] }
              update: { call: "PATCH /orders/{order_id}/lines/{line_no}", fields: [text] }
              delete: { call: "DELETE /orders/{order_id}/lines/{line_no}" }
        """
    }

    /// The records are the lines, by their numbers, of order 7.
    private func server() -> ShapedServer {
        ShapedServer(["1": .object(["text": "A"]), "2": .object(["text": "B"])]) { call, lines in
            func served(_ key: String, _ line: JSONText) -> JSONText {
                line.setting("line_no", to: (try? JSONText(parsing: key)) ?? .null)
            }
            switch (call.method, call.path) {
            case ("GET", "/orders"):
                let order = JSONText.object(["id": 7, "title": "O"])
                return (200, .array([order.setting("lines", to: lines.served(served))]))
            case ("GET", "/orders/7/lines"): return (200, lines.served(served))
            case ("GET", "/orders/7"):
                return (200, JSONText.object(["id": 7, "title": "O"]).setting("lines", to: lines.served(served)))
            case ("POST", _):
                lines["3"] = call.body
                return (201, served("3", call.body))
            case ("PATCH", _):
                let line = (lines[call.key] ?? .object([:])).setting(call.body)
                lines[call.key] = line
                return (200, served(call.key, line))
            default:
                lines[call.key] = nil
                return (200, .object([:]))
            }
        }
    }

    private func test(_ detail: String, _ server: ShapedServer) throws -> TestEngine {
        let plan = try EntitySchema(yaml: schema(detail), file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        return try TestEngine(remote: upstream, schema: schema(detail))
    }

    @Test("is made with the parent's, and a pull of the same writes nothing", arguments: details)
    func pulled(_ detail: String) async throws {
        let test = try test(detail, server())
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.record("7~1", "lines")?["text"] == "A")
            #expect(try test.record("7~2", "lines")?["order_id"] == 7)
            let position = try test.store.position()
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.position() == position && test.store.rowCounts()["lines"] == 2)
        }
    }

    @Test("comes with the answer to a creation, and names the record in later changes", arguments: details)
    func changed(_ detail: String) async throws {
        let server = server()
        let test = try test(detail, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            let body = JSONText.object(["order_id": 7, "text": "C"])
            let own = try await test.store.create("lines", body: body, at: test.clock.timestamp)
            try await test.store.update("lines", key: "7~1", body: .object(["text": "X"]), at: test.clock.timestamp)
            try await test.store.delete("lines", key: "7~2", at: test.clock.timestamp)
            try await test.until { try test.store.pendingCount() == PendingCount(pending: 0, failed: 0) }
            #expect(try test.store.remote(of: "lines", key: own)?["id"] == "7~3")
            try await test.engine.sync(SyncRequest(full: true))
        }
        let sent = Set(server.changes.map { "\($0.method) \($0.path) \($0.body.text)" })
        #expect(
            sent == [
                #"POST /orders/7/lines {"text":"C"}"#, #"PATCH /orders/7/lines/1 {"text":"X"}"#,
                "DELETE /orders/7/lines/2 null",
            ])
        #expect(server.changes.count == 3)
        #expect(try test.record("7~3", "lines")?["order_id"] == 7 && test.record("7~1", "lines")?["text"] == "X")
    }
}
