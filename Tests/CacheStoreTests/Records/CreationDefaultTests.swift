import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Defaults of records created here")
struct CreationDefaultTests {
    private let now = TestCache.now

    static let shop = """
        schema: shop
        upstream: { base_url: "http://localhost", account: { path: /me, id: id, name: name } }
        entities:
          clients:
            fields:
              id: { type: string }
              first: { type: string }
              last: { type: string }
              initials: { type: string, derive: { text: "{first:1}{last:1}" } }
            pull: { path: /clients }
            push: { create: { call: POST /clients }, update: { call: "PATCH /clients/{id}" } }
          orders:
            sort: -created_at
            fields:
              id: { type: string }
              number: { type: integer }
              ref: { type: string, derive: { text: "#{number}" } }
              status: { type: enum, index: true, values: { new: New, ready: Ready, done: Done }, default: new }
              is_active: { type: boolean, derive: { is: { status: [new, ready] } } }
              client_id: { type: reference, to: clients, index: true }
              client_name: { type: string, default: "{client.first} {client.last}" }
              by: { type: string, default: "{$account.name}" }
              urgent: { type: boolean, default: { value: false, send: true } }
              notes: { type: string }
              message_count: { type: integer, derive: { count: messages } }
              last_message_at: { type: time, index: true, derive: { latest: messages.at, by: at } }
              created_at: { type: time, index: true, default: now }
              updated_at: { type: time, index: true, touch: now }
            many: { messages: { of: messages, by: order_id } }
            pull: { path: /orders, since: { param: since, field: updated_at } }
            push: { create: { call: POST /orders }, update: { call: "PATCH /orders/{id}" } }
          messages:
            sort: -at
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true }
              at: { type: time, index: true, default: now }
            pull: { path: /messages }
            push: { create: { call: POST /messages } }
          drafts:
            local: true
            fields:
              id: { type: string }
              text: { type: string }
              done: { type: boolean, default: false }
              changed_at: { type: time, touch: now }
        """

    private func cache() async throws -> TestCache {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull("clients", #"[{"id":"c","first":"Ada","last":"Byron"}]"#)
        _ = try await cache.pull(
            "orders",
            #"[{"id":"a","number":7,"status":"done","message_count":1,"last_message_at":"2020-01-02T00:00:00Z","#
                + #""created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}]"#)
        return cache
    }

    private func create(_ body: String, _ cache: TestCache) async throws -> JSONText {
        let key = try await cache.make("orders", body)
        return try #require(try cache.record("orders", key))
    }

    private func orders(_ cache: TestCache, _ filters: (String, FilterComparison.Operation, String)...) throws -> Int {
        try cache.keys(
            ListQuery(
                entity: "orders",
                filters: filters.map { FilterCondition(field: $0.0, comparison: $0.1, values: [$0.2]) })
        ).count
    }

    @Test("a new record has its defaults from the start, and is found and sorted by them")
    func fromTheStart() async throws {
        let cache = try await cache()
        try await cache.store.setAccountName("Grace")
        let order = try await create(#"{"client_id":"c"}"#, cache)
        #expect(order["status"] == "new")
        #expect(order["client_name"] == "Ada Byron")
        #expect(order["by"] == "Grace")
        #expect(order["urgent"] == false)
        #expect(order["message_count"] == 0)
        #expect(order["created_at"]?.string == now.description)
        #expect(order["updated_at"]?.string == now.description)
        #expect(order["is_active"] == true)
        #expect(order["ref"] == nil)
        #expect(try cache.keys(ListQuery(entity: "orders")).first == order["id"]?.string)
        #expect(try orders(cache, ("status", .equal, "new")) == 1)
        #expect(try orders(cache, ("created_at", .atLeast, "2021-01-01T00:00:00Z")) == 1)
        #expect(try orders(cache, ("is_active", .equal, "true")) == 1)
        #expect(try orders(cache, ("client_name", .equal, "Ada Byron")) == 1)
    }

    @Test("what the caller gives counts, null included")
    func given() async throws {
        let order = try await create(#"{"status":"ready","client_name":null,"urgent":true}"#, try await cache())
        #expect(order["status"] == "ready")
        #expect(order["client_name"] == .null)
        #expect(order["urgent"] == true)
    }

    @Test("only the defaults that say so are sent, and none is a pending field")
    func sent() async throws {
        let cache = try await cache()
        let order = try await create(#"{"client_id":"c"}"#, cache)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(Set(change.body.members.map(\.key)) == ["id", "client_id", "urgent"])
        #expect(order["_sync"]?["pending_fields"]?.elements.contains("status") == false)
        #expect(order["_sync"]?["pending_fields"]?.elements.contains("updated_at") == false)
    }

    @Test("an answer without a record keeps them, and the server's record replaces them")
    func answered() async throws {
        let cache = try await cache()
        let order = try await create(#"{"client_id":"c"}"#, cache)
        let key = try #require(order["id"]?.string)
        try await cache.send(.acknowledged(record: nil))
        #expect(try cache.values("orders", key, "status") == [#""new""#])
        #expect(try cache.keys(ListQuery(entity: "orders")).first == key)
        _ = try await cache.pull(
            "orders", #"[{"id":"\#(key)","number":8,"status":"done","created_at":"2019-01-01T00:00:00Z"}]"#)
        #expect(try cache.values("orders", key, "status", "ref", "is_active") == [#""done""#, ##""#8""##, "false"])
        #expect(try cache.keys(ListQuery(entity: "orders")).last == key)
    }

    @Test("an answer with little more than the key keeps them too; one that shows the record does not")
    func answeredByKey() async throws {
        let cache = try await cache()
        let first = try #require(try await create(#"{"client_id":"c","notes":"x"}"#, cache)["id"]?.string)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"n1","number":8}"#)))
        #expect(try cache.values("orders", first, "status", "number", "notes") == [#""new""#, "8", #""x""#])
        let other = try #require(try await create(#"{"client_id":"c","notes":"y"}"#, cache)["id"]?.string)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"n2","number":9,"notes":"y"}"#)))
        #expect(try cache.values("orders", other, "status") == ["null"])
    }

    @Test("an edit of a new record that waits counts, and the default is gone")
    func edited() async throws {
        let cache = try await cache()
        let order = try await create("{}", cache)
        let key = try #require(order["id"]?.string)
        try await cache.change("orders", key, #"{"status":"ready"}"#)
        #expect(try cache.values("orders", key, "status") == [#""ready""#])
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(change.body["status"] == "ready")
    }

    @Test("the time of change moves with a local edit, until the server says a later one")
    func touched() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"hello"}"#)
        let edited = try #require(try cache.record("orders", "a"))
        #expect(edited["updated_at"]?.string == now.description)
        #expect(edited["_sync"]?["pending_fields"] == .array(["notes"]))
        #expect(try orders(cache, ("updated_at", .atLeast, now.description)) == 1)
        _ = try await cache.pull("orders", #"[{"id":"a","number":7,"updated_at":"2999-01-01T00:00:00Z"}]"#)
        #expect(try cache.values("orders", "a", "updated_at") == [#""2999-01-01T00:00:00Z""#])
        _ = try await cache.pull("orders", #"[{"id":"a","number":7,"updated_at":"2020-01-01T00:00:00Z"}]"#)
    }

    @Test("a time that moves with edits is pending once an edit sets it, and the record shows an edit's error")
    func touchedByHand() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"hello"}"#)
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        let refused = try #require(try cache.record("orders", "a"))
        #expect(
            refused["_sync"]?.without("synced_at").text
                == #"{"state":"error","pending_fields":["notes"],"#
                + #""error":{"message":"no","retry_count":1,"next_attempt_at":null}}"#)
        try await cache.change("orders", "a", #"{"updated_at":"2027-01-01T00:00:00Z"}"#)
        let edited = try #require(try cache.record("orders", "a"))
        #expect(edited["_sync"]?["pending_fields"] == .array(["notes", "updated_at"]))
    }

    @Test("discarding an edit gives the server's time of change back")
    func discarded() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"hello"}"#)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        try await cache.store.discard(change.id, cascade: false, at: now)
        #expect(try cache.values("orders", "a", "updated_at") == [#""2020-01-01T00:00:00Z""#])
    }

    @Test("an offline message is the newest one, and its order's count and time follow")
    func message() async throws {
        let cache = try await cache()
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"a","at":"2020-01-02T00:00:00Z"}]"#)
        let key = try await cache.make("messages", #"{"order_id":"a"}"#)
        #expect(try cache.keys(ListQuery(entity: "messages")) == [key, "m"])
        #expect(
            try cache.values("orders", "a", "message_count", "last_message_at") == ["2", "\"\(now.description)\""])
    }

    @Test("a local-only record keeps its defaults, and its time of change moves")
    func local() async throws {
        let cache = try await cache()
        let key = try await cache.make("drafts", #"{"text":"x"}"#)
        #expect(try cache.values("drafts", key, "done", "changed_at") == ["false", "\"\(now.description)\""])
    }

    @Test("a schema that starts to move a time shows it for the edits that wait")
    func adapted() async throws {
        let plain = Self.shop.replacing("touch: now }", with: "}")
        let cache = try TestCache(schema: plain)
        _ = try await cache.pull("orders", #"[{"id":"a","updated_at":"2020-01-01T00:00:00Z"}]"#)
        try await cache.change("orders", "a", #"{"notes":"x"}"#)
        let reopened = try cache.reopened(schema: Self.shop)
        #expect(try reopened.values("orders", "a", "updated_at") == ["\"\(now.description)\""])
    }
}
