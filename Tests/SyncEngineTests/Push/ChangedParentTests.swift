import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("Parents whose children were sent")
struct ChangedParentTests {
    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          idempotency_header: Idempotency-Key
          pagination: { style: page }
        entities:
          orders:
            fields:
              id: { type: string }
              balance: { type: integer }
              updated_at: { type: time }
            pull:
              path: /orders
              since: { param: since, field: updated_at }
              detail: { read: single, when_changed: any, into: { payments: payments } }
          payments:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, required: true }
            push:
              create: { call: "POST /orders/{order_id}/payments" }
          parts:
            fields: { id: { type: string } }
            pull: { path: /parts }
        """

    /// The newer order moves the watermark, so that no later pull lists the other one.
    private static func orders(_ balance: Int, _ payments: String) -> String {
        """
        [{"id":"a","balance":\(balance),"payments":[\(payments)],"updated_at":"2026-01-01T00:00:00Z"},
         {"id":"b","balance":0,"payments":[],"updated_at":"2026-06-01T00:00:00Z"}]
        """
    }

    /// Has sent a payment of the order that no list shows any more.
    private func paid(_ body: (TestEngine) async throws -> Void) async throws {
        let test = try TestEngine(schema: Self.shop)
        try test.upstream.set("/orders", Self.orders(5, ""))
        try test.upstream.set("/parts", "[]")
        try await test.running {
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["balance"] == 5)
            try test.upstream.set("/orders", Self.orders(0, #"{"id":"server-1"}"#))
            _ = try await test.store.create(
                "payments", body: JSONText(parsing: #"{"order_id":"a"}"#), at: test.clock.timestamp)
            try await body(test)
            #expect(try test.store.pendingCount().pending == 0)
            #expect(try test.record("a")?["balance"] == 0)
            #expect(try test.store.rowCounts()["payments"] == 1)
        }
    }

    @Test("are read again by the sync that sent them, although no list shows a change")
    func inRun() async throws {
        try await paid { test in try await test.engine.sync(SyncRequest()) }
    }

    @Test("are read again soon after a sync of another entity has sent them")
    func afterRun() async throws {
        try await paid { test in
            let before = test.clock.timestamp
            try await test.engine.sync(SyncRequest(entities: ["parts"]))
            try await test.until { try test.record("a")?["balance"] == 0 }
            #expect(test.clock.timestamp.since(before) < .seconds(60))
        }
    }
}
