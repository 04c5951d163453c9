import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A change of which no request can be made")
struct UnsendableTests {
    private static let yaml = """
        schema: shop
        upstream: { base_url: http://localhost, pagination: { style: page } }
        entities:
          orders:
            fields: { id: { type: string }, name: { type: string } }
            pull: { path: /orders }
          devices:
            fields: { id: { type: string }, order_id: { type: reference, to: orders } }
            pull: { path: /devices }
            push: { create: { call: "POST /numbered/{order.name}/devices" } }
        """

    private func error(_ test: TestEngine) throws -> String? {
        try test.store.pending(PendingQuery(limit: 1)).changes.first?.at(path: "error.message")?.string
    }

    @Test("says which record the address needs, and is sent once that was read and the change is retried")
    func farValue() async throws {
        let test = try TestEngine(schema: Self.yaml)
        let order = #"[{"id":"a","name":"N1"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: order), at: test.clock.timestamp)
        _ = try await test.store.create("devices", body: .object(["order_id": "a"]), at: test.clock.timestamp)
        _ = try await test.store.delete(["a"], of: "orders", position: .max, at: test.clock.timestamp)
        try await test.send()
        #expect(try error(test) == "orders/a is not cached, and the address needs its name; read it, then retry")
        _ = try await test.store.apply(PulledPage(entity: "orders", records: order), at: test.clock.timestamp)
        _ = try await test.store.retry(nil, at: test.clock.timestamp)
        try await test.send()
        #expect(test.upstream.pushes.map(\.request.path) == ["/numbered/N1/devices"])
    }

    @Test("names the field that no route sends, and what to do")
    func strayField() async throws {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string }, name: { type: string }, notes: { type: string } }
                pull: { path: /orders }
                push: { create: { call: POST /orders, fields: FIELDS }, update: { call: "PATCH /orders/{id}", fields: FIELDS } }
            """
        let folder = try TemporaryFolder()
        let old = try CacheStore.temporary(
            EntitySchema(yaml: yaml.replacing("FIELDS", with: "[name, notes]"), file: "shop.yaml"), in: folder)
        let clock = ManualClock()
        _ = try await old.create("orders", body: JSONText(parsing: #"{"name":"n","notes":"x"}"#), at: clock.timestamp)
        try old.close()
        let narrow = yaml.replacing("FIELDS", with: "[name]")
        let test = try TestEngine(
            store: CacheStore.temporary(EntitySchema(yaml: narrow, file: "shop.yaml"), in: folder), schema: narrow)
        for _ in 1...2 { try await test.send() }
        #expect(
            try error(test)
                == "no route of the schema sends notes; add it to the schema and retry, or discard this change")
    }
}
