import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Local-only entities")
struct LocalOnlyTests {
    static let schema =
        TestCache.shop + """

              bookmarks:
                local: true
                fields:
                  id: { type: string }
                  order_id: { type: reference, to: orders, index: true }
                  label: { type: string, required: true, search: true }
                  pin: { type: string, secret: true }
                many:
                  marks: { of: marks, by: bookmark_id, on_delete: cascade }
              marks:
                local: true
                fields:
                  id: { type: string }
                  bookmark_id: { type: reference, to: bookmarks, index: true }
            """

    private func queue(_ cache: TestCache) throws -> Int { try cache.store.pendingCount().pending }

    @Test
    func `a record is created, changed and deleted without queueing anything`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create(
            "bookmarks", body: JSONText(parsing: #"{"label":"late"}"#), at: TestCache.now)
        try await cache.store.update(
            "bookmarks", key: key, body: JSONText(parsing: #"{"label":"early"}"#), at: TestCache.now)
        let record = try #require(try cache.record("bookmarks", key))
        #expect(record["label"] == "early")
        #expect(record.at(path: "_sync.state") == "synced")
        #expect(record.at(path: "_sync.synced_at")?.kind == .null)
        #expect(try queue(cache) == 0)
        try await cache.store.delete("bookmarks", key: key, at: TestCache.now)
        #expect(try cache.record("bookmarks", key) == nil)
        #expect(try queue(cache) == 0)
        let history = try cache.store.history(of: "bookmarks", key: key, after: 0, limit: 10).entries
        #expect(history.map { $0["kind"]?.string } == ["upserted", "upserted", "deleted"])
        #expect(history[1].at(path: "values.label") == "early")
    }

    @Test
    func `records survive damage to their database`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let body = try JSONText(parsing: #"{"id":"b","label":"late","pin":"4711"}"#)
        _ = try await cache.store.create("bookmarks", body: body, at: TestCache.now)
        let before = try cache.record("bookmarks", "b")
        try cache.store.close()
        let schema = try EntitySchema(yaml: Self.schema, file: "shop.yaml")
        _ = try await QueueRescue(
            path: cache.path, schema: schema, sealer: RescueFixture.sealer(), backups: [], makeID: { "new" }
        ).run(reason: "test", at: TestCache.now)
        let rescued = try TestCache(schema: Self.schema, in: cache.folder)
        #expect(try rescued.record("bookmarks", "b") == before)
        #expect(try rescued.store.rowCounts()["bookmarks"] == 1)
    }

    @Test
    func `a body that does not fit the schema is refused`() async throws {
        let cache = try TestCache(schema: Self.schema)
        await #expect(throws: CacheError.self) {
            _ = try await cache.store.create("bookmarks", body: JSONText(parsing: "{}"), at: TestCache.now)
        }
    }

    @Test
    func `deleting a record also deletes what the schema cascades to`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create(
            "bookmarks", body: JSONText(parsing: #"{"label":"late"}"#), at: TestCache.now)
        let child = try await cache.store.create(
            "marks", body: .object(["bookmark_id": .string(key)]), at: TestCache.now)
        try await cache.store.delete("bookmarks", key: key, at: TestCache.now)
        #expect(try cache.record("marks", child) == nil)
    }

    @Test
    func `a reference follows a record that the server gave another key`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let order = try await cache.store.create("orders", body: JSONText(parsing: "{}"), at: TestCache.now)
        let key = try await cache.store.create(
            "bookmarks", body: .object(["label": "late", "order_id": .string(order)]), at: TestCache.now)
        try await cache.send(answer: #"{"id":"ord_1"}"#)
        #expect(try cache.record("bookmarks", key)?["order_id"] == "ord_1")
    }

    @Test
    func `a watcher learns which references follow a record that the server gave another key`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let order = try await cache.make("orders", "{}")
        let bookmark = try await cache.make("bookmarks", #"{"label":"late","order_id":"\#(order)"}"#)
        let message = try await cache.make("messages", #"{"order_id":"\#(order)","text":"Ready"}"#)
        let since = try cache.store.changes(since: 0, limit: 100).next
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"ord_1"}"#)))
        let events = try cache.store.changes(since: since, limit: 100).events.map(\.document)
        let upserted = events.filter { $0["kind"] == "upserted" }.map { [$0["entity"]?.string, $0["id"]?.string] }
        #expect(upserted == [["messages", message], ["bookmarks", bookmark]])
    }

    @Test
    func `a secret is sealed, and only other fields are searchable`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create(
            "bookmarks", body: JSONText(parsing: #"{"label":"late","pin":"4711"}"#), at: TestCache.now)
        #expect(try cache.record("bookmarks", key)?["pin"] == nil)
        let reopened = try cache.reopened(schema: Self.schema)
        #expect(try reopened.record("bookmarks", key)?["label"] == "late")
        var query = ListQuery(entity: "bookmarks")
        query.search = try SearchQuery("lat")
        try await reopened.store.catchUpSearch()
        #expect(try reopened.keys(query) == [key])
    }

    @Test(arguments: [
        ("pull: { path: /x }", "has no pull"), ("push: { create: { call: POST /x } }", "has no push"),
        ("conflict: manual", "has no conflict"),
    ])
    func `a setting that needs an upstream is refused`(line: String, problem: String) throws {
        let yaml = Self.schema.replacing(
            "  marks:\n    local: true", with: "  marks:\n    local: true\n    \(line)")
        #expect(yaml != Self.schema)
        do {
            _ = try EntitySchema(yaml: yaml, file: "s.yaml")
            Issue.record("taken")
        } catch {
            #expect(error.problem.contains(problem))
        }
    }
}
