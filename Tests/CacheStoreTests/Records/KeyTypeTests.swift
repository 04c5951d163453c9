import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Keys keep their type")
struct KeyTypeTests {
    private let now = TestCache.now

    private static let schema = """
        schema: tasks
        upstream: { base_url: http://localhost }
        entities:
          folders:
            fields: { id: { type: integer }, name: { type: string } }
            many: { tasks: { of: tasks, by: folder_id, on_delete: cascade } }
            pull: { path: /folders, deleted: deleted_at }
            push: { create: { call: POST /folders }, update: { call: "PATCH /folders/{id}" } }
          tasks:
            fields:
              id: { type: integer }
              folder_id: { type: reference, to: folders, index: true }
              parent_id: { type: reference, to: tasks }
              text: { type: string }
            pull: { path: /tasks, deleted: deleted_at }
            push: { create: { call: POST /tasks }, update: { call: "PATCH /tasks/{id}" } }
        """

    @Test("#11 a reference to a renamed creation has the type that the server gave its key")
    func renamed() async throws {
        for (given, expected) in [("1001", "1001"), (#""1001""#, #""1001""#)] {
            let cache = try TestCache(schema: Self.schema)
            let parent = try await cache.make("tasks", #"{"text":"p"}"#)
            _ = try await cache.make("tasks", #"{"text":"c","parent_id":"\#(parent)"}"#)
            try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":\#(given),"text":"p"}"#)))
            let child = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
            #expect(child.body["parent_id"]?.text == expected)
            // The key that the caller knows, and the server's key as text or number, are sent as the server writes it.
            for name in [#""\#(parent)""#, #""1001""#, "1001"] {
                let key = try await cache.make("tasks", #"{"text":"d","parent_id":\#(name)}"#)
                let change = try #require(
                    try cache.store.readyChanges(limit: 9, at: now).first { $0.key == key })
                #expect(change.body["parent_id"]?.text == expected)
            }
        }
    }

    @Test(
        "an answer under a key that cannot be used is not stored",
        arguments: [#""..""#, #""x\u0000y""#, #""\ud800""#, "1.5", "true"])
    func unusable(_ given: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.make("tasks", #"{"text":"p"}"#)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":\#(given),"text":"q"}"#)))
        let record = try #require(try cache.record("tasks", key))
        #expect(record["id"]?.plain == key && record["text"] == "p")
    }

    @Test(
        "a record cannot be created under a key that cannot be used",
        arguments: [#""..""#, #""x\u0000y""#, #""\ud800""#, #""""#])
    func notCreated(_ given: String) async throws {
        let cache = try TestCache()
        await #expect(throws: CacheError.self) { _ = try await cache.make("orders", #"{"id":\#(given)}"#) }
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test("a reference to a record that has left its window has the type of that entity's keys")
    func uncached() async throws {
        let window = Self.schema.replacing("path: /folders,", with: "path: /folders, where: { name: mine },")
        let cache = try TestCache(schema: window)
        let first = try await cache.make("folders", #"{"name":"mine"}"#)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":7,"name":"mine"}"#)))
        let later = now + .seconds(86_400)
        _ = try await cache.store.apply(
            PulledPage(entity: "folders", records: #"[{"id":7,"name":"other"}]"#), at: later)
        #expect(try await cache.store.leaveWindows(at: later, serverNow: later) == ["folders": 1])
        for given in [#""\#(first)""#, #""7""#, "7"] {
            let key = try await cache.make("tasks", #"{"text":"t","folder_id":\#(given)}"#)
            let change = try #require(try cache.store.readyChanges(limit: 9, at: now).first { $0.key == key })
            #expect(change.body["folder_id"]?.text == "7", "\(given)")
        }
    }

    @Test("#11 whole numbers beyond 63 bits are kept apart, as keys and in references")
    func large() async throws {
        let cache = try TestCache(schema: Self.schema)
        let (one, other) = ("9223372036854775808", "9223372036854775809")
        _ = try await cache.pull("folders", #"[{"id":\#(one),"name":"one"},{"id":\#(other),"name":"other"}]"#)
        _ = try await cache.pull(
            "tasks",
            #"[{"id":1,"folder_id":\#(one),"parent_id":\#(one)},{"id":2,"folder_id":\#(other),"parent_id":\#(other)}]"#)
        #expect(try cache.record("folders", one)?["name"] == "one")
        #expect(try cache.record("folders", other)?["name"] == "other")
        for (field, key, id) in [
            ("folder_id", one, 1), ("folder_id", other, 2), ("parent_id", one, 1), ("parent_id", other, 2),
        ] {
            var query = ListQuery(entity: "tasks")
            query.filters = [FilterCondition(field: field, comparison: .equal, values: [key])]
            let found = try JSONText(cache.store.list(query).records).elements
            #expect(found.map { $0["id"]?.integer } == [id], "\(field) \(key)")
        }
        let text = try await cache.make("tasks", #"{"text":"t","folder_id":\#(other)}"#)
        let change = try #require(try cache.store.readyChanges(limit: 9, at: now).first { $0.key == text })
        #expect(change.body["folder_id"]?.text == other)
        _ = try await cache.pull("folders", #"[{"id":\#(one),"deleted_at":"x"}]"#)
        #expect(try cache.record("folders", other) != nil)
        #expect(try cache.record("tasks", "2") != nil && cache.record("tasks", "1") == nil)
    }
}
