import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Deletions that wait behind an edit of the same record")
struct DeletionBehindEditTests {
    private let now = TestCache.now

    /// What only the server sets: `code` is in no route, `revision` is what edits are based on, `etag` is the version.
    private static let schema = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
          version: { field: etag, header: If-Match }
        entities:
          orders:
            fields:
              id: { type: string }
              notes: { type: string }
              status: { type: string }
              code: { type: string }
              revision: { type: string }
              etag: { type: string }
              updated_at: { type: time }
            pull: { path: /orders, since: { param: since, field: updated_at } }
            push:
              update: { call: "PATCH /orders/{id}", body: { <<: $fields, revision: "{revision}" }, fields: [notes, status, revision, etag] }
              delete: { call: "DELETE /orders/{id}" }
        """

    private func record(_ members: String, after seconds: Int) -> String {
        #"{"id":"a",\#(members),"updated_at":"\#((now + .seconds(seconds)).description)"}"#
    }

    /// A record that was deleted here while an edit of its notes was being sent, and that edit.
    private func deleted(
        _ schema: String = schema,
        _ members: String = #""notes":"n","status":"s","code":"c1","revision":"1","etag":"e1""#
    ) async throws -> (TestCache, OutboxChange) {
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("orders", "[\(record(members, after: -60))]")
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        let edit = try await cache.begun()
        try await cache.store.delete("orders", key: "a", at: now)
        return (cache, edit)
    }

    private func conflicts(_ cache: TestCache) throws -> Int {
        try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.count
    }

    @Test("what the server sets with each edit is no edit of another person: the deletion is sent")
    func moved() async throws {
        let (cache, edit) = try await deleted()
        let answer = record(#""notes":"mine","status":"s","code":"c2","revision":"2","etag":"e2""#, after: 60)
        try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try conflicts(cache) == 0)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.operation) == [.delete])
    }

    @Test(
        "a time of the answer that the schema does not name as change time is no edit of another person, but another time is",
        arguments: [(10, 0), (86_400, 1)])
    func changeTimeIsNotNamed(seconds: Int, found: Int) async throws {
        let (cache, edit) = try await deleted(
            """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string }, notes: { type: string }, updated_at: { type: time } }
                pull: { path: /orders }
                push: { update: { call: "PATCH /orders/{id}" }, delete: { call: "DELETE /orders/{id}" } }
            """, #""notes":"n""#)
        let answer = record(#""notes":"mine""#, after: seconds)
        try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try conflicts(cache) == found)
    }

    @Test("a list that shows the edit before its answer, with what the server set with it, is no conflict either")
    func shown() async throws {
        let (cache, _) = try await deleted()
        let page = record(#""notes":"mine","status":"s","code":"c2","revision":"2","etag":"e2""#, after: 60)
        _ = try await cache.pull("orders", "[\(page)]")
        #expect(try conflicts(cache) == 0)
        #expect(try cache.record("orders", "a") == nil)
    }

    @Test("another value of a field that edits set is the work of another person")
    func others() async throws {
        let (cache, edit) = try await deleted()
        let answer = record(#""notes":"mine","status":"theirs","code":"c2","revision":"3","etag":"e3""#, after: 60)
        try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        #expect(try conflicts(cache) == 1)
    }

    @Test("without an edit of ours, what only the server sets still shows an edit")
    func alone() async throws {
        let (cache, _) = try await deleted()
        _ = try await cache.pull(
            "orders", "[\(record(#""notes":"n","status":"s","code":"c2","revision":"2","etag":"e2""#, after: 60))]")
        #expect(try conflicts(cache) == 1)
    }

    private static let ordersAndLines = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields: { id: { type: string }, notes: { type: string }, total: { type: money } }
            many: { lines: { of: lines, by: order_id, on_delete: cascade } }
            pull: { path: /orders }
            push:
              update: { call: "PATCH /orders/{id}", fields: [notes] }
              delete: { call: "DELETE /orders/{id}" }
          lines:
            fields: { id: { type: string }, order_id: { type: reference, to: orders }, price: { type: money } }
            pull: { path: /lines }
            push: { update: { call: "PATCH /lines/{id}" }, delete: { call: "DELETE /lines/{id}" } }
        """

    @Test("what the server computes from a record below is no edit of another person after a change of that from here")
    func computed() async throws {
        for (isEdited, isAnswered) in [(true, true), (true, false), (false, false)] {
            let cache = try TestCache(schema: Self.ordersAndLines)
            _ = try await cache.pull("orders", #"[{"id":"a","total":1}]"#)
            _ = try await cache.pull("lines", #"[{"id":"l","order_id":"a","price":1}]"#)
            if isEdited {
                try await cache.store.update("lines", key: "l", body: JSONText(parsing: #"{"price":2}"#), at: now)
            }
            let edit = isEdited ? try await cache.begun() : nil
            try await cache.store.delete("orders", key: "a", at: now)
            if let edit, isAnswered { try await cache.store.finish(edit.id, .acknowledged(record: nil), at: now) }
            _ = try await cache.pull("orders", #"[{"id":"a","total":2}]"#)
            #expect(try conflicts(cache) == (isEdited ? 0 : 1))
        }
    }

    @Test("nor is what it computes once the deletion itself has taken from the record what refers to it")
    func detached() async throws {
        let cache = try TestCache(schema: Self.ordersAndLines.replacing("cascade", with: "nullify"))
        _ = try await cache.pull("orders", #"[{"id":"a","total":1}]"#)
        _ = try await cache.pull("lines", #"[{"id":"l","order_id":"a","price":1}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        let answer = try JSONText(parsing: #"{"id":"l","order_id":null,"price":1}"#)
        try await cache.store.finish(try await cache.begun().id, .acknowledged(record: answer), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","total":0}]"#)
        #expect(try conflicts(cache) == 0)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.operation) == [.delete])
    }

    @Test("a change of what belongs to another record explains nothing, nor does any without updates")
    func unrelated() async throws {
        let update = #"update: { call: "PATCH /orders/{id}", fields: [notes] }"#
        let readOnly = Self.ordersAndLines.replacing(update, with: "")
        for (schema, line) in [(Self.ordersAndLines, "line-2"), (readOnly, "line-1")] {
            let cache = try TestCache(schema: schema)
            _ = try await cache.pull("orders", #"[{"id":"order-1","total":1},{"id":"order-2","total":1}]"#)
            let lines = (1...2).map { #"{"id":"line-\#($0)","order_id":"order-\#($0)","price":1}"# }
            _ = try await cache.pull("lines", "[\(lines.joined(separator: ","))]")
            try await cache.store.update("lines", key: line, body: JSONText(parsing: #"{"price":2}"#), at: now)
            let edit = try await cache.begun()
            try await cache.store.delete("orders", key: "order-1", at: now)
            try await cache.store.finish(edit.id, .acknowledged(record: nil), at: now)
            _ = try await cache.pull("orders", #"[{"id":"order-1","total":2},{"id":"order-2","total":1}]"#)
            #expect(try conflicts(cache) == 1)
        }
    }
}
