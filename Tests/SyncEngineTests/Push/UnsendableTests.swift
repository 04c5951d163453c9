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

    private static let versioned = """
        schema: shop
        upstream: { base_url: http://localhost, pagination: { style: page } }
        entities:
          orders:
            fields: { id: { type: string }, name: { type: string }, version: { type: integer } }
            pull: { path: /orders }
            push:
              update: { call: "POST /orders/{id}/{version}", fields: [name] }
              delete: { call: "DELETE /orders/{id}/{version}" }
        """

    /// The list lacks the version.
    private func withoutVersion(_ there: String) async throws -> TestEngine {
        let test = try TestEngine(schema: Self.versioned)
        try test.upstream.set("/orders", there)
        let listed = PulledPage(entity: "orders", records: #"[{"id":"a","name":"n"}]"#)
        _ = try await test.store.apply(listed, at: test.clock.timestamp)
        return test
    }

    @Test("a value that the address needs and the list lacks is read from the record before an edit or a deletion")
    func unlistedVersion() async throws {
        let test = try await withoutVersion(#"[{"id":"a","name":"n","version":7}]"#)
        try await test.change("a", #"{"name":"new"}"#)
        try await test.send()
        #expect(test.upstream.pushes.map(\.request.path) == ["/orders/a/7"])
        let other = try await withoutVersion(#"[{"id":"a","name":"n","version":8}]"#)
        _ = try await other.store.delete("orders", key: "a", at: other.clock.timestamp)
        try await other.send()
        #expect(other.upstream.pushes.map(\.request.path) == ["/orders/a/8"])
    }

    @Test("says which value of the address is missing if reading the record does not bring it")
    func nowhere() async throws {
        let test = try await withoutVersion(#"[{"id":"a","name":"n"}]"#)
        _ = try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        try await test.send()
        #expect(try error(test)?.hasPrefix("the record has no version, which the address needs") == true)
        #expect(test.upstream.pushes.isEmpty)
    }

    @Test("names the value that would lead the address to another place")
    func strayAddress() async throws {
        let test = try TestEngine(schema: Self.yaml)
        let order = #"[{"id":"a","name":"../../admin"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: order), at: test.clock.timestamp)
        _ = try await test.store.create("devices", body: .object(["order_id": "a"]), at: test.clock.timestamp)
        try await test.send()
        #expect(test.upstream.pushes.isEmpty)
        #expect(
            try error(test)
                == "the record's order.name would lead the address to another place; correct it and retry, or discard this "
                + "change")
    }

    @Test(
        "names the fields that no route sends, and what to do",
        arguments: [
            (#"{"name":"n","notes":"x"}"#, "notes; add it"),
            (#"{"name":"n","notes":"x","reason":"y"}"#, "notes, reason; add them"),
        ])
    func strayFields(record: String, words: String) async throws {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string }, name: { type: string }, notes: { type: string }, reason: { type: string } }
                pull: { path: /orders }
                push: { create: { call: POST /orders, fields: FIELDS }, update: { call: "PATCH /orders/{id}", fields: FIELDS } }
            """
        let folder = try TemporaryFolder()
        let old = try CacheStore.temporary(
            EntitySchema(yaml: yaml.replacing("FIELDS", with: "[name, notes, reason]"), file: "shop.yaml"), in: folder)
        let clock = ManualClock()
        _ = try await old.create("orders", body: JSONText(parsing: record), at: clock.timestamp)
        try old.close()
        let narrow = yaml.replacing("FIELDS", with: "[name]")
        let test = try TestEngine(
            store: CacheStore.temporary(EntitySchema(yaml: narrow, file: "shop.yaml"), in: folder), schema: narrow)
        for _ in 1...2 { try await test.send() }
        #expect(
            try error(test)
                == "no route of the schema sends \(words) to the schema and retry, or discard this change")
    }
}
