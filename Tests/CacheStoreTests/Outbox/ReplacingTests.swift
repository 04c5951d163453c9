import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Saving a whole record")
struct ReplacingTests {
    private let now = TestCache.now

    private static let shop = """
        schema: shop
        upstream: { base_url: "http://localhost" }
        entities:
          tasks:
            fields:
              id: { type: string }
              title: { type: string, required: true }
              notes: { type: string }
              pin: { type: string, secret: true }
              done: { type: boolean, default: false }
              short: { type: string, derive: { text: "{title:1}" } }
              number: { type: integer }
              room: { type: string, from: place.room }
              lock: { type: object }
              code: { type: string, secret: true, from: lock.code }
              created_at: { type: time, default: now }
              updated_at: { type: time, touch: now }
            pull: { path: /tasks }
            push:
              create: { call: POST /tasks }
              update: { call: "PATCH /tasks/{id}", fields: [title, notes, pin, done, room, created_at] }
            many: { receipt: { of: receipts, by: task_id, at_most: 1 } }
          receipts:
            fields: { id: { type: string }, task_id: { type: reference, to: tasks } }
            pull: { path: /receipts }
            push: { create: { call: POST /receipts }, update: { call: "PATCH /receipts/{id}" } }
        """

    private func cache() async throws -> TestCache {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull(
            "tasks",
            #"[{"id":"a","title":"Read","notes":"n","pin":"1","done":true,"number":7,"#
                + #""created_at":"2020-01-01T00:00:00Z"}]"#)
        return cache
    }

    private func save(_ key: String, _ body: String, _ cache: TestCache) async throws -> Bool {
        let body = try JSONText(parsing: body)
        return try await cache.store.write(at: now) { try $0.replace("tasks", key: key, body) }
    }

    private func change(_ cache: TestCache) throws -> JSONText? {
        try cache.store.readyChanges(limit: 1, at: now).first?.body
    }

    @Test("a record whose deletion is queued cannot be saved again yet, and the reason says so")
    func deleted() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        let reason =
            "orders/a is deleted here, and the upstream may still have it; create it later, or with another key"
        await #expect(throws: CacheError.conflict(reason)) {
            _ = try await cache.store.write(at: now) { try $0.replace("orders", key: "a", .object(["notes": "n"])) }
        }
    }

    @Test("a key without a record creates it, with its defaults")
    func creates() async throws {
        let cache = try await cache()
        #expect(try await save("b", #"{"title":"Write"}"#, cache))
        #expect(try cache.values("tasks", "b", "title", "done") == [#""Write""#, "false"])
        #expect(try await !save("b", #"{"title":"Write more"}"#, cache))
        #expect(try cache.values("tasks", "b", "title") == [#""Write more""#])
    }

    @Test("what is left out becomes its default or null, if the upstream takes it and readers see it")
    func leftOut() async throws {
        let cache = try await cache()
        #expect(try await !save("a", #"{"title":"Read"}"#, cache))
        #expect(try change(cache)?.text == #"{"notes":null,"done":false}"#)
        #expect(try cache.values("tasks", "a", "number", "created_at") == ["7", #""2020-01-01T00:00:00Z""#])
    }

    @Test("what is left out and null becomes its default too")
    func nullBecomesDefault() async throws {
        let cache = try await cache()
        _ = try await cache.pull("tasks", #"[{"id":"b","title":"Write","done":null},{"id":"c","title":"Run"}]"#)
        #expect(try await !save("c", #"{"title":"Run"}"#, cache))
        #expect(try change(cache) == nil)
        #expect(try await !save("b", #"{"title":"Write"}"#, cache))
        #expect(try change(cache)?.text == #"{"done":false}"#)
    }

    @Test("what was read can be sent back, and changes only what was changed")
    func roundTrip() async throws {
        let cache = try await cache()
        let read = try #require(try cache.record("tasks", "a"))
        _ = try await save("a", read.text, cache)
        #expect(try change(cache) == nil)
        _ = try await save("a", read.setting("notes", to: "m").text, cache)
        #expect(try change(cache)?.text == #"{"notes":"m"}"#)
    }

    @Test("values elsewhere in the record, other spellings, and what was hidden or computed are no changes")
    func spellings() async throws {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull(
            "tasks",
            #"[{"id":"a","title":"Read","done":true,"place":{"room":"7","floor":1.50},"lock":{"code":"1","kind":"pin"},"#
                + #""short":null}]"#)
        let body =
            #"{"title": "Read", "done": true, "place": {"floor": 1.5, "room": "7"}, "lock": {"kind": "pin"}, "short": "R", "pin": null}"#
        #expect(try await !save("a", body, cache))
        #expect(try change(cache) == nil)
        _ = try await save("a", #"{"title":"Read","done":true}"#, cache)
        #expect(try change(cache)?.text == #"{"room":null}"#)
    }

    @Test("a save of a record that must exist creates none")
    func mustExist() async throws {
        let cache = try await cache()
        await #expect(throws: CacheError.self) {
            try await cache.store.write(at: now) { transaction in
                _ = try transaction.replace("tasks", key: "z", .object(["title": "x"]), mustExist: true)
            }
        }
    }

    @Test("another key, a computed field with another value, and an unexpected version are refused")
    func refused() async throws {
        let cache = try await cache()
        await #expect(throws: CacheError.self) { _ = try await save("a", #"{"id":"b","title":"x"}"#, cache) }
        await #expect(throws: CacheError.self) { _ = try await save("a", #"{"title":"Read","short":"Z"}"#, cache) }
        await #expect(throws: CacheError.self) { _ = try await save("b", #"{"notes":"without a title"}"#, cache) }
        await #expect(throws: CacheError.self) {
            try await cache.store.write(at: now) { transaction in
                _ = try transaction.replace("tasks", key: "z", .object(["title": "x"]), expecting: .oneOf([1]))
            }
        }
        #expect(try change(cache) == nil)
    }

    @Test("a second record of one that may have only one is a conflict, also by an edit, until the first is gone")
    func atMostOne() async throws {
        let cache = try await cache()
        _ = try await cache.make("receipts", #"{"id":"r","task_id":"a"}"#)
        await #expect(throws: CacheError.self) { _ = try await cache.make("receipts", #"{"task_id":"a"}"#) }
        let other = try await cache.make("receipts", "{}")
        await #expect(throws: CacheError.self) { try await cache.change("receipts", other, #"{"task_id":"a"}"#) }
        try await cache.change("receipts", "r", #"{"task_id":null}"#)
        try await cache.change("receipts", other, #"{"task_id":"a"}"#)
        #expect(try cache.values("receipts", other, "task_id") == [#""a""#])
    }
}
