import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields of a new record that the schema no longer sends")
struct UnsentFieldTests {
    private let now = TestCache.now

    private static let with = TestCache.shop.replacing(
        "create: { call: POST /orders }", with: "create: { call: POST /orders, fields: [status, notes] }")
    private static let without = with.replacing("fields: [status, notes]", with: "fields: [status]")

    /// Queues a creation with notes, then sends it without them; returns the cache and the record's key.
    private func sent(_ answer: String) async throws -> TestCache {
        let old = try TestCache(schema: Self.with)
        _ = try await old.store.create(
            "orders", body: JSONText(parsing: #"{"status":"open","notes":"mine"}"#), at: now)
        let cache = try old.reopened(schema: Self.without)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        _ = try await cache.store.begin(creation, at: now)
        try await cache.store.settle(creation.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
        return cache
    }

    @Test("stay queued as an edit of the record, and go out once the schema sends them again")
    func kept() async throws {
        let cache = try await sent(#"{"id":"a","status":"open"}"#)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        let again = try cache.reopened(schema: Self.with)
        let edit = try #require(try again.store.readyChanges(limit: 1, at: now).first)
        #expect(edit.operation == .update && edit.key == "a")
        #expect(edit.body == (try JSONText(parsing: #"{"notes":"mine"}"#)))
    }

    @Test("are gone from the record once that edit is discarded")
    func discarded() async throws {
        let cache = try await sent(#"{"id":"a","status":"open"}"#)
        let edit = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        try await cache.store.discard(edit.id, cascade: false, at: now)
        #expect(try cache.record("orders", "a")?["notes"] == nil)
    }

    @Test("need no edit if an earlier attempt has sent them")
    func arrived() async throws {
        let cache = try await sent(#"{"id":"a","status":"open","notes":"mine"}"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).isEmpty)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
    }
}
