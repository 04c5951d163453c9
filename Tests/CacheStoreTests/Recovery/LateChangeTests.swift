import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Changes that came while the schema lacked their entity")
struct LateChangeTests {
    private static let withoutMessages = TestCache.shop.replacing("messages", with: "texts")
    private static let withoutSecret = TestCache.shop.replacing("string, secret: true", with: "string")
    private static let withoutBoth = withoutMessages.replacing("orders", with: "jobs")

    private func exported(_ cache: TestCache) throws -> ExportedQueue {
        try ExportedQueue(text: ExportedQueue(ofDatabaseAt: cache.path).text())
    }

    private func dependencies(_ cache: TestCache) throws -> [[Int64]] {
        try cache.store.read { db in
            try Row.fetchAll(db, sql: "SELECT change_id, needs_id FROM sync_dependency ORDER BY 1, 2")
                .map { [$0[0], $0[1]] }
        }
    }

    private func settings(_ cache: TestCache) throws -> [String] {
        try cache.store.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sync_setting WHERE name GLOB 'late:*' ORDER BY name")
        }
    }

    @Test("entities may come back one after the other, and another opening changes nothing")
    func parts() async throws {
        let fixture = try await RescueFixture()
        var cache = try TestCache(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(fixture.cache), at: RescueFixture.later)
        #expect(try settings(cache) == ["late:messages", "late:orders"])
        cache = try cache.reopened(schema: Self.withoutMessages)
        #expect(try cache.store.rowCounts()["orders"] == 2)
        #expect(try settings(cache) == ["late:messages"])
        for _ in 1...2 {
            cache = try cache.reopened()
            #expect(try cache.store.rowCounts()["messages"] == 1)
            #expect(try dependencies(cache) == [[3, 2]], "the message waits for its order")
            #expect(try cache.store.pendingCount().pending == 3)
            #expect(try settings(cache).isEmpty)
        }
    }

    @Test("changes of this machine stay as they are, and the ones that came are behind them")
    func own() async throws {
        let fixture = try await RescueFixture()
        var cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "mine"]), at: TestCache.now)
        let change = try await cache.begun()
        cache = try cache.reopened(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(fixture.cache), at: RescueFixture.later)
        cache = try cache.reopened()
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        #expect(try cache.record("orders", "a")?["status"] == "ready")
        #expect(try dependencies(cache) == [[2, 1], [4, 3]])
        #expect(try RescueFixture.queue(cache.store).first?.key == change.idempotencyKey)
    }

    @Test("changes that have left the queue before the entity comes back are not shown")
    func discarded() async throws {
        let fixture = try await RescueFixture()
        var cache = try TestCache(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(fixture.cache), at: RescueFixture.later)
        for id in 1...3 { try await cache.store.discard(Int64(id), cascade: false, at: RescueFixture.later) }
        cache = try cache.reopened()
        #expect(try cache.keys(ListQuery(entity: "orders")).isEmpty)
        #expect(try settings(cache).isEmpty)
    }

    @Test("a record that was given another key meanwhile is referred to by that")
    func renamed() async throws {
        let fixture = try await RescueFixture()
        var cache = try TestCache(schema: Self.withoutMessages)
        _ = try await cache.store.take(exported(fixture.cache), at: RescueFixture.later)
        let creation = try #require(
            try cache.store.readyChanges(limit: 9, at: RescueFixture.later).first { $0.operation == .create })
        #expect(try await cache.store.begin(creation, at: RescueFixture.later))
        let answer = try JSONText(parsing: #"{"id":"o9","notes":"new"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: RescueFixture.later)
        cache = try cache.reopened()
        let message = try #require(
            try cache.store.readyChanges(limit: 9, at: RescueFixture.later).first { $0.entity == "messages" })
        #expect(message.body["order_id"] == "o9")
        #expect(try cache.record("messages", message.key)?["order_id"] == "o9")
    }

    @Test("a creation that may have arrived is not sent again where only its values could find it")
    func unclear() async throws {
        let schema = TestCache.shop.replacing("POST /orders }", with: "POST /orders, look_up: { match: [notes] } }")
        let origin = try TestCache(schema: schema)
        _ = try await origin.store.create("orders", body: .object(["notes": "new"]), at: TestCache.now)
        _ = try await origin.begun()
        var cache = try TestCache(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(origin), at: RescueFixture.later)
        cache = try cache.reopened(schema: schema)
        #expect(try cache.store.pendingChange(1)["error"]?["class"] == "unclear")
        #expect(try cache.store.readyChanges(limit: 9, at: RescueFixture.later).isEmpty)
    }

    // MARK: Secrets

    private func withSecret() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["passcode": "CANARY"]), at: TestCache.now)
        return cache
    }

    @Test("a secret is sealed once, and sent as it was set")
    func secret() async throws {
        let origin = try await withSecret()
        var cache = try TestCache(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(origin), at: RescueFixture.later)
        for _ in 1...2 {
            cache = try cache.reopened()
            let change = try #require(try cache.store.readyChanges(limit: 1, at: RescueFixture.later).first)
            #expect(change.body["passcode"] == "CANARY")
            #expect(change.storedBody.text.contains("CANARY") == false)
        }
    }

    @Test("a secret is opened where the schema no longer has one when the entity comes back")
    func open() async throws {
        let origin = try await withSecret()
        var cache = try TestCache(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(origin), at: RescueFixture.later)
        cache = try cache.reopened(schema: Self.withoutSecret)
        #expect(try cache.record("orders", "a")?["passcode"] == "CANARY")
    }

    @Test("a change of the daemon before, which brings no list of its secrets, is taken to be sealed as here")
    func takenOver() async throws {
        let origin = try await withSecret()
        let texts = try origin.store.standbyNews(since: nil).entries.map(\.text)
        var cache = try TestCache(schema: Self.withoutBoth)
        try await cache.store.takeOver(texts, keepsAll: true, at: RescueFixture.later)
        cache = try cache.reopened()
        let change = try #require(try cache.store.readyChanges(limit: 1, at: RescueFixture.later).first)
        #expect(change.body["passcode"] == "CANARY")
    }

    @Test("a secret that this cache had in the clear is left out, and its change fails")
    func otherPlaces() async throws {
        let origin = try await withSecret()
        var cache = try TestCache(schema: Self.withoutSecret)
        _ = try await cache.pull("orders", #"[{"id":"a","passcode":"old"}]"#)
        cache = try cache.reopened(schema: Self.withoutBoth)
        _ = try await cache.store.take(exported(origin), at: RescueFixture.later)
        cache = try cache.reopened(schema: Self.withoutSecret)
        #expect(try cache.store.pendingChange(1)["error"]?["class"] == "sealed")
        #expect(try cache.record("orders", "a")?["passcode"] == "old")
        #expect(try cache.store.readyChanges(limit: 9, at: RescueFixture.later).isEmpty)
    }
}
