import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Values that mark a record as deleted")
struct DeletionMarkTests {
    private static func schema(_ deleted: String) -> String {
        """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields:
              id: { type: string }
              status: { type: enum, values: { open: Open, cancelled: Cancelled, void: Void } }
              active: { type: boolean }
              state: { type: string, from: meta.state }
            pull: { path: /orders, deleted: \(deleted) }
            push:
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "PATCH /orders/{id}", body: { status: cancelled } }
        """
    }

    @Test(
        "a record is deleted when the field has the value, and comes back when it has another",
        arguments: [
            ("{ status: cancelled }", #""status":"cancelled""#, #""status":"open""#),
            ("{ status: [void, cancelled] }", #""status":"void""#, #""status":null"#),
            ("{ active: false }", #""active":false"#, #""active":true"#),
            ("{ state: gone }", #""meta":{"state":"gone"}"#, #""meta":{"state":"here"}"#),
            ("{ state: gone }", #""state":"gone""#, #""state":"here""#),
            ("meta.deleted_at", #""meta":{"deleted_at":"2026-11-20"}"#, #""meta":{"deleted_at":null}"#),
            ("state", #""meta":{"state":"gone"}"#, #""meta":{}"#),
        ])
    func marks(_ deleted: String, _ mark: String, _ other: String) async throws {
        let cache = try TestCache(schema: Self.schema(deleted))
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b",\#(mark)}]"#)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["a"])
        #expect(try await cache.pull("orders", #"[{"id":"a",\#(mark)}]"#).deleted == 1)
        #expect(try cache.keys(ListQuery(entity: "orders")) == [])
        _ = try await cache.pull("orders", #"[{"id":"a",\#(other)}]"#)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["a"])
    }

    @Test("a deletion here is the change that sets the value, and the answer with the record ends it")
    func deletion() async throws {
        let cache = try TestCache(schema: Self.schema("{ status: cancelled }"))
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        let entity = try #require(cache.store.schema["orders"])
        let request = try #require(change.request(of: entity))
        #expect(request.method == "PATCH" && request.path == "/orders/a")
        let sent = request.request(cache.store.schema.upstream, idempotencyKey: "k")
        #expect(sent.body?.text == #"{"status":"cancelled"}"#)
        #expect(try await cache.store.begin(change, at: TestCache.now))
        let answer = JSONText.object(["id": "a", "status": "cancelled"])
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        _ = try await cache.pull("orders", #"[{"id":"a","status":"cancelled"}]"#)
        #expect(try cache.keys(ListQuery(entity: "orders")) == [])
    }

    @Test(
        "an edit that sets the value deletes the record once the upstream has accepted it",
        arguments: [#"{"id":"a","status":"cancelled"}"#, #"{"id":"a"}"#, nil])
    func edit(_ answer: String?) async throws {
        let cache = try TestCache(schema: Self.schema("{ status: cancelled }"))
        let before = #"[{"id":"a","status":"open"}]"#
        _ = try await cache.pull("orders", before)
        try await cache.store.update(
            "orders", key: "a", body: .object(["status": "cancelled"]), at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["a"])
        let change = try await cache.begun()
        let record: JSONText? = try answer.map { try JSONText(parsing: $0) }
        try await cache.store.finish(change.id, .acknowledged(record: record), at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "orders")) == [])
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        // A list that is behind does not bring it back.
        _ = try await cache.pull("orders", before)
        #expect(try cache.keys(ListQuery(entity: "orders")) == [])
    }

    @Test("an edit that the upstream takes without setting the value deletes nothing")
    func ignoredEdit() async throws {
        let cache = try TestCache(schema: Self.schema("{ status: cancelled }"))
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.update(
            "orders", key: "a", body: .object(["status": "cancelled"]), at: TestCache.now)
        let change = try await cache.begun()
        let answer = JSONText.object(["id": "a", "status": "void"])
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["a"])
    }

    @Test(
        "a mark that no record can have is refused",
        arguments: [
            ("{ status: canceled }", "did you mean cancelled?"), ("{ stat: cancelled }", "has no field stat"),
            ("{ status: cancelled, active: false }", "expected one field"), ("{ records: x }", "path"),
        ])
    func refused(_ deleted: String, _ problem: String) {
        let error = #expect(throws: SchemaError.self) {
            try EntitySchema(yaml: Self.schema(deleted), file: "shop.yaml")
        }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "accepted")")
    }
}
