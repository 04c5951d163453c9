import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// Items below their orders: an edit of `order_id` moves an item to another address.
@Suite("A change of a field in the record's own address")
struct MovedRecordTests {
    private static let listed = #"pull: { path: /items, record: { path: "/orders/{order_id}/items/{id}" } }"#

    private func schema(header: Bool, detail: Bool) -> String {
        """
        schema: shop
        upstream: { base_url: "http://shop"\(header ? ", idempotency_header: Idempotency-Key" : "") }
        entities:
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders\(detail ? #", detail: { into: items, path: "/orders/{id}/items", when_changed: any }"# : "") }
          items:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true }
              qty: { type: integer }
            \(detail ? "" : Self.listed)
            push:
              update: { call: "PATCH /orders/{order_id}/items/{id}" }
              delete: { call: "DELETE /orders/{order_id}/items/{id}" }
        """
    }

    /// The records are the items. With one named "lost", the answer to the next change is lost, and with one named "deaf" the
    /// change is too.
    private func server() -> ShapedServer {
        ShapedServer([
            "i": .object(["order_id": "x", "qty": 1]), "j": .object(["order_id": "x", "qty": 1]),
            "k": .object(["order_id": "y", "qty": 1]),
        ]) { call, items in
            let parts = call.path.split(separator: "/").map(String.init)
            func served(_ key: String, _ item: JSONText) -> JSONText { item.setting("id", to: .string(key)) }
            guard parts.count < 4 else {
                if call.method != "GET", items.removeValue(forKey: "deaf") != nil { return (500, .object([:])) }
                guard let item = items[parts[3]], item["order_id"]?.string == parts[1] else {
                    return (404, .object(["error": "no such item"]))
                }
                if call.method == "DELETE" { items[parts[3]] = nil }
                if call.method == "PATCH" { items[parts[3]] = item.setting(call.body) }
                if call.method != "GET", items.removeValue(forKey: "lost") != nil { return (500, .object([:])) }
                return (200, served(parts[3], items[parts[3]] ?? item))
            }
            if parts.count == 2 { return (200, .object(["id": .string(parts[1])])) }
            let order = parts.count == 3 ? parts[1] : nil
            guard parts[0] == "items" || order != nil else {
                return (200, .array([JSONText.object(["id": "x"]), JSONText.object(["id": "y"])]))
            }
            let listed = items.filter { order == nil || $0.value["order_id"]?.string == order }
            return (200, listed.filter { $0.value["qty"] != nil }.served(served))
        }
    }

    private func test(
        _ server: ShapedServer, header: Bool = false, detail: Bool = false
    ) async throws -> TestEngine {
        let yaml = schema(header: header, detail: detail)
        let plan = try EntitySchema(yaml: yaml, file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        let test = try TestEngine(remote: upstream, schema: yaml)
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"x"},{"id":"y"}]"#), at: test.clock.timestamp)
        _ = try await test.store.apply(
            PulledPage(
                entity: "items",
                records:
                    #"[{"order_id":"x","qty":1,"id":"i"},{"order_id":"x","qty":1,"id":"j"},{"order_id":"y","qty":1,"id":"k"}]"#
            ), at: test.clock.timestamp)
        return test
    }

    private func edit(_ body: String, _ test: TestEngine) async throws {
        try await test.store.update("items", key: "i", body: JSONText(parsing: body), at: test.clock.timestamp)
    }

    /// Sends what is ready, once.
    private func send(_ test: TestEngine, _ server: ShapedServer) async throws {
        test.clock.advance(by: .seconds(20))
        let now = test.clock.timestamp
        let upstream = HTTPUpstream(plan: test.store.schema.upstream, transport: server)
        let pusher = test.pusher(at: now, to: upstream, callableSince: now - .seconds(60))
        for change in try test.store.readyChanges(limit: 9, at: now) { _ = try await pusher.send(change) }
    }

    private func sent(_ server: ShapedServer) -> [String] {
        server.changes.map { "\($0.method) \($0.path) \($0.body.text)" }
    }

    private func expectMoved(_ test: TestEngine, qty: JSONText) throws {
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        let record = try test.record("i", "items")
        #expect(record?["order_id"] == "y" && record?["qty"] == qty)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
    }

    @Test("goes to the old address, and later changes go to the new one", arguments: [true, false])
    func moved(detail: Bool) async throws {
        let server = server()
        let test = try await test(server, detail: detail)
        try await edit(#"{"order_id":"y"}"#, test)
        try await send(test, server)
        try await edit(#"{"qty":2}"#, test)
        try await send(test, server)
        try expectMoved(test, qty: 2)
        #expect(
            sent(server) == [#"PATCH /orders/x/items/i {"order_id":"y"}"#, #"PATCH /orders/y/items/i {"qty":2}"#])
    }

    @Test(
        "is not repeated after a lost answer if the record is at the new address, and repeated at the old one if not",
        arguments: [("lost", true), ("lost", false), ("deaf", true), ("deaf", false)])
    func lost(what: String, detail: Bool) async throws {
        let server = server()
        let test = try await test(server, detail: detail)
        try await edit(#"{"order_id":"y"}"#, test)
        server.records[what] = .object([:])
        try await send(test, server)
        try await edit(#"{"qty":2}"#, test)
        for _ in 1...3 { try await send(test, server) }
        try expectMoved(test, qty: 2)
        let moves = Array(repeating: #"PATCH /orders/x/items/i {"order_id":"y"}"#, count: what == "lost" ? 1 : 2)
        #expect(sent(server) == moves + [#"PATCH /orders/y/items/i {"qty":2}"#])
    }

    @Test("is done if a repeat under its key is answered with 404 and the record is at the new address")
    func repeated() async throws {
        let server = server()
        let test = try await test(server, header: true)
        try await edit(#"{"order_id":"y"}"#, test)
        server.records["lost"] = .object([:])
        try await send(test, server)
        try await send(test, server)
        try expectMoved(test, qty: 1)
        #expect(sent(server).count == 2)
    }

    @Test("is followed by a deletion at the address where the record is", arguments: ["", "lost", "deaf"])
    func deleted(what: String) async throws {
        let server = server()
        let test = try await test(server)
        try await edit(#"{"order_id":"y"}"#, test)
        if !what.isEmpty {
            server.records[what] = .object([:])
            try await send(test, server)
        }
        try await test.store.delete("items", key: "i", at: test.clock.timestamp)
        for _ in 1...3 { try await send(test, server) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(server.records["i"] == nil)
        // A move that was never sent is not needed.
        #expect(sent(server).last == "DELETE /orders/\(what.isEmpty ? "x" : "y")/items/i null")
    }

    @Test("whose answer was lost makes no read believe that the record is gone", arguments: ["lost", "deaf"])
    func refreshed(what: String) async throws {
        let server = server()
        let test = try await test(server)
        try await edit(#"{"order_id":"y"}"#, test)
        server.records[what] = .object([:])
        try await send(test, server)
        let items = try #require(test.store.schema["items"])
        #expect(await test.engine.refresh(items, key: "i") == .stored)
        #expect(try test.record("i", "items")?["order_id"] == "y")
        #expect(try test.store.remote(of: "items", key: "i")?["order_id"]?.string == (what == "lost" ? "y" : "x"))
    }

    @Test("is read at the old address too while the upstream may be behind")
    func lagging() async throws {
        let server = server()
        let test = try await test(server)
        try await edit(#"{"order_id":"y"}"#, test)
        try await send(test, server)
        server.records["i"] = .object(["order_id": "x", "qty": 1])
        let items = try #require(test.store.schema["items"])
        #expect(await test.engine.refresh(items, key: "i") == .stored)
        #expect(try test.record("i", "items")?["order_id"] == "y")
    }

    @Test("whose answer was lost leaves the deletion of a record that is nowhere to be found")
    func gone() async throws {
        let server = server()
        let test = try await test(server)
        try await edit(#"{"order_id":"y"}"#, test)
        server.records["lost"] = .object([:])
        try await send(test, server)
        server.remove("i")
        for _ in 1...2 { try await send(test, server) }
        #expect(try test.record("i", "items") == nil)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("whose answer was lost does not delete the record when its old parent's list is read")
    func pulled() async throws {
        let server = server()
        let test = try await test(server, detail: true)
        try await edit(#"{"order_id":"y"}"#, test)
        server.records["lost"] = .object([:])
        try await send(test, server)
        let page = PulledChildren(
            entity: "items", by: "order_id", records: .array([JSONText]()), parents: ["x"], complete: ["x"])
        _ = try await test.store.apply(
            PulledPage(
                entity: "orders", records: .array([JSONText]()), position: try test.store.position(), children: [page]),
            at: test.clock.timestamp)
        #expect(try test.record("i", "items")?["order_id"] == "y")
        #expect(try test.record("j", "items") == nil, "it is not there, and was not moved")
    }
}
