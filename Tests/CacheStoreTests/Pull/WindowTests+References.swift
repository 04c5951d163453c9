import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Records that others refer to, across the limits of a window.
extension WindowTests {
    @Test(
        "a record stays while a change of one that refers to it is queued or has failed",
        arguments: ["referenced", "window"])
    func neededByQueue(keep: String) async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost, pagination: { style: page }, settle: 60s }
                entities:
                  orders:
                    fields: { id: { type: string }, name: { type: string }, status: { type: string } }
                    many: { devices: { of: devices, by: order_id, on_delete: cascade } }
                    pull: { path: /orders, where: { status: open }, keep: \(keep) }
                  devices:
                    fields: { id: { type: string }, order_id: { type: reference, to: orders } }
                    pull: { path: /devices }
                    push: { create: { call: "POST /numbered/{order.name}/devices" } }
                """)
        _ = try await cache.pull("orders", #"[{"id":"a","name":"N1","status":"open"}]"#)
        _ = try await cache.make("devices", #"{"order_id":"a"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","name":"N1","status":"closed"}]"#)
        #expect(try await leave(cache).isEmpty)
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        #expect(try await leave(cache, at: TestCache.now + .seconds(86_400)).isEmpty)
        _ = try await cache.store.retry(nil, at: TestCache.now)
        let devices = try #require(cache.store.schema["devices"])
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        #expect(change.request(of: devices)?.path == "/numbered/N1/devices")
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"d","order_id":"a"}"#)))
        #expect(try await leave(cache, at: TestCache.now + .seconds(61)) == ["orders": 1])
    }

    @Test("what comes only with a record leaves with it, in a chain of any length")
    func chain() async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost, pagination: { style: page } }
                entities:
                  orders:
                    fields: { id: { type: string }, status: { type: string } }
                    many: { notes: { of: notes, by: order_id, on_delete: cascade } }
                    pull:
                      path: /orders
                      where: { status: open }
                      detail: { path: "/orders/{id}/notes", into: notes, when_changed: any }
                  notes:
                    fields:
                      id: { type: string }
                      order_id: { type: reference, to: orders }
                      above_id: { type: reference, to: notes }
                    many: { below: { of: notes, by: above_id, on_delete: cascade } }
                """)
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        let notes = (0..<20_000).map { number in
            number == 0 ? #"{"id":"n0","order_id":"a"}"# : #"{"id":"n\#(number)","above_id":"n\#(number - 1)"}"#
        }
        _ = try await cache.pull("notes", "[\(notes.joined(separator: ","))]")
        _ = try await cache.pull("orders", #"[{"id":"a","status":"closed"}]"#)
        #expect(try await leave(cache) == ["orders": 1])
        #expect(try cache.store.rowCounts() == ["orders": 0, "notes": 0])
    }

    @Test("a record that is not served is named again once its time is over")
    func missingForAWhile() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a", client: "c"))]")
        let clients = try #require(cache.store.schema["clients"])
        try await cache.store.noteAbsent(["c"], of: "clients", at: TestCache.now, for: .seconds(3600))
        let missing = { (seconds: Int) in
            try cache.store.missingReferences(to: clients, limit: 9, at: TestCache.now + .seconds(seconds))
        }
        #expect(try missing(3599).isEmpty)
        #expect(try missing(3600) == ["c"])
        try await cache.store.noteAbsent(["c"], of: "clients", at: TestCache.now)
        try await cache.store.forgetAbsent(of: "clients")
        #expect(try missing(0) == ["c"])
    }

    @Test("what was noted while the clock was years ahead does not hold once it is right")
    func clockAhead() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a", client: "c"))]")
        let clients = try #require(cache.store.schema["clients"])
        let ahead = TestCache.now + .seconds(3650 * 86_400)
        try await cache.store.noteAbsent(["c"], of: "clients", at: ahead)
        try await cache.store.noteReferences("refused", of: "clients", until: ahead + .seconds(3600))
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: ahead).isEmpty)
        #expect(try cache.store.referenceProblem(of: "clients", at: ahead) == "refused")
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: TestCache.now) == ["c"])
        #expect(try cache.store.referenceProblem(of: "clients", at: TestCache.now) == nil)
    }

    @Test("references that were complete at an impossible time may be missing")
    func impossibleTime() async throws {
        let cache = try cache()
        let clients = try #require(cache.store.schema["clients"])
        try await cache.store.noteReferencesComplete(of: clients, at: cache.store.position(), TestCache.now)
        let note = try #require(try cache.store.setting("references:clients"))
        let state = try #require(note.firstIndex(of: " "))
        try await cache.store.setSetting("references:clients", to: "\(Int64.min)\(note[state...])")
        #expect(try cache.store.mayMissReferences(to: clients, at: TestCache.now))
    }

    @Test("references that were complete may be missing again after a write, or a day")
    func complete() async throws {
        let cache = try cache()
        let clients = try #require(cache.store.schema["clients"])
        #expect(try cache.store.mayMissReferences(to: clients, at: TestCache.now))
        try await cache.store.noteReferencesComplete(of: clients, at: cache.store.position(), TestCache.now)
        #expect(try !cache.store.mayMissReferences(to: clients, at: TestCache.now + .seconds(86_399)))
        #expect(try cache.store.mayMissReferences(to: clients, at: TestCache.now + .seconds(86_400)))
        #expect(try cache.store.mayMissReferences(to: clients, at: TestCache.now - .seconds(1)))
        _ = try await cache.pull("orders", "[\(order("a", client: "c"))]")
        #expect(try cache.store.mayMissReferences(to: clients, at: TestCache.now))
    }
}
