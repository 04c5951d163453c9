import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields of a change that the schema no longer sends")
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
        try await cache.send(answer: answer)
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

    // MARK: Fields that are computed by now

    private static let computing = TestCache.shop.replacing(
        "notes: { type: string }", with: #"notes: { type: string, derive: { text: "{status}!" } }"#)

    @Test("stay queued as an edit if they are computed here by now")
    func computed() async throws {
        let old = try TestCache()
        _ = try await old.store.create(
            "orders", body: JSONText(parsing: #"{"status":"open","notes":"mine"}"#), at: now)
        let cache = try old.reopened(schema: Self.computing)
        let creation = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","status":"open"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        #expect(try bodies(cache) == [#"{"notes":"mine"}"#])
        let again = try cache.reopened()
        let edit = try #require(try again.store.readyChanges(limit: 1, at: now).first)
        #expect(edit.operation == .update && edit.key == "a" && edit.body.text == #"{"notes":"mine"}"#)
    }

    // MARK: Refused changes

    private static let edits = TestCache.shop.replacing(
        #"update: { call: "PATCH /orders/{id}" }"#,
        with: #"update: { call: "PATCH /orders/{id}", fields: [total, notes] }"#)
    private static let editsWithout = edits.replacing("fields: [total, notes]", with: "fields: [total]")

    private func edit(_ cache: TestCache, _ body: String) async throws {
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: body), at: now)
    }

    private func bodies(_ cache: TestCache) throws -> [String] {
        try cache.store.pending(PendingQuery(limit: 9)).changes.map { $0["body"]?.text ?? "" }
    }

    /// Refuses an edit of total and notes, before which `behind` is made, and opens the cache with a schema without notes.
    private func refused(behind: String? = nil) async throws -> TestCache {
        let old = try TestCache(schema: Self.edits)
        _ = try await old.pull("orders", #"[{"id":"a","total":1,"notes":"n"}]"#)
        try await edit(old, #"{"total":2,"notes":"mine"}"#)
        let change = try await old.begun()
        if let behind { try await edit(old, behind) }
        let locked = PushFailure(.conflict, status: 409, message: "locked")
        try await old.store.finish(change.id, .failed(locked), at: now)
        return try old.reopened(schema: Self.editsWithout)
    }

    @Test("do not keep a good value for another field from replacing the refused one")
    func corrected() async throws {
        let cache = try await refused()
        try await edit(cache, #"{"total":3}"#)
        let change = try #require(try cache.store.readyChanges(limit: 9, at: now).first)
        #expect(change.body.text == #"{"total":3}"# && !change.isTried)
        #expect(try bodies(cache) == [#"{"total":3}"#, #"{"notes":"mine"}"#])
        _ = try await cache.store.begin(change, at: now)
        let answer = try JSONText(parsing: #"{"id":"a","total":3,"notes":"n"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        #expect(try cache.store.readyChanges(limit: 9, at: now).map(\.body.text) == [#"{"notes":"mine"}"#])
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
    }

    @Test("are removed from a refused edit that a later edit corrects, and keep their newest value")
    func newer() async throws {
        let cache = try await refused(behind: #"{"notes":"newer"}"#)
        try await edit(cache, #"{"total":3}"#)
        // The newer value corrected the refused edit, which the schema can no longer send.
        let corrected = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(corrected.body.text == #"{"total":2,"notes":"newer"}"#)
        #expect(try await cache.store.begin(corrected, at: now))
        let unsendable = PushFailure(.unsendable, message: "no route sends notes")
        try await cache.store.finish(corrected.id, .failed(unsendable), at: now)
        #expect(try bodies(cache) == [#"{"total":3}"#, #"{"notes":"newer"}"#])
        #expect(try cache.record("orders", "a")?["notes"] == "newer")
    }

    @Test("do not keep an edit from correcting a refused creation, which goes without them")
    func correctedCreation() async throws {
        let old = try TestCache(schema: Self.with)
        let key = try await old.make("orders", #"{"status":"open","notes":"mine"}"#)
        let creation = try await old.begun()
        let refusal = PushFailure(.refused, status: 422, message: "no")
        try await old.store.finish(creation.id, .failed(refusal), at: now)
        let cache = try old.reopened(schema: Self.without)
        try await cache.store.update("orders", key: key, body: JSONText(parsing: #"{"status":"ready"}"#), at: now)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(change.operation == .create && change.body["status"] == "ready" && !change.isTried)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        _ = try await cache.store.begin(change, at: now)
        let answer = try JSONText(parsing: #"{"id":"b","status":"ready"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        #expect(try bodies(cache) == [#"{"notes":"mine"}"#])
    }
}
