import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Changes of several entities in one order")
struct SharedOrderTests {
    private let now = TestCache.now

    @Test("a payment waits for the line items of its order that were written before it, and for those of no other")
    func waits() async throws {
        let cache = try TestCache(schema: Self.bills)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let item = try await cache.make("items", #"{"order_id":"a","text":"Screen"}"#)
        let payment = try await cache.make("payments", #"{"order_id":"a","amount":50}"#)
        let other = try await cache.make("payments", #"{"order_id":"b","amount":60}"#)
        #expect(try ready(cache) == [item, other])
        try await accept(item, cache)
        #expect(try ready(cache) == [payment, other])
    }

    @Test("an item that was written after a payment waits for it, and both for the new order, under its new key too")
    func newOrder() async throws {
        let cache = try TestCache(schema: Self.bills)
        let order = try await cache.make("orders", "{}")
        let payment = try await cache.make("payments", #"{"order_id":"\#(order)","amount":50}"#)
        let item = try await cache.make("items", #"{"order_id":"\#(order)","text":"Screen"}"#)
        #expect(try ready(cache) == [order])
        try await accept(order, as: "o-1", cache)
        #expect(try ready(cache) == [payment])
        let later = try await cache.make("payments", #"{"order_id":"o-1","amount":60}"#)
        try await accept(payment, cache)
        #expect(try ready(cache) == [item])
        try await accept(item, cache)
        #expect(try ready(cache) == [later])
    }

    @Test("a change that was discarded holds up none that came after it")
    func discarded() async throws {
        let cache = try TestCache(schema: Self.bills)
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let item = try await cache.make("items", #"{"order_id":"a","text":"Screen"}"#)
        let payment = try await cache.make("payments", #"{"order_id":"a","amount":50}"#)
        try await cache.store.delete("items", key: item, at: now)
        #expect(try ready(cache) == [payment])
    }

    @Test(
        "an order is closed after the items written before, and not by an edit that is queued already",
        arguments: [true, false])
    func closes(isNew: Bool) async throws {
        let cache = try TestCache(schema: Self.bills)
        var order = "a"
        if isNew {
            order = try await cache.make("orders", #"{"status":"open"}"#)
        } else {
            _ = try await cache.pull("orders", #"[{"id":"a","status":"new"}]"#)
            try await cache.change("orders", "a", #"{"status":"open"}"#)
        }
        let item = try await cache.make("items", #"{"order_id":"\#(order)","text":"Screen"}"#)
        try await cache.change("orders", order, #"{"status":"closed"}"#)
        #expect(try ready(cache) == [order])
        try await accept(order, as: "a", cache)
        #expect(try ready(cache) == [item])
        try await accept(item, cache)
        let last = try #require(try cache.store.readyChanges(limit: 9, at: now).first)
        #expect(last.key == "a")
        #expect(last.body["status"] == "closed")
    }

    @Test(
        "the later changes of an order wait while one has failed, unless its entity holds up none",
        arguments: [true, false])
    func failed(isWaitedFor: Bool) async throws {
        let cache = try TestCache(schema: isWaitedFor ? Self.bills : Self.passing)
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let item = try await cache.make("items", #"{"order_id":"a","text":"Screen"}"#)
        let payment = try await cache.make("payments", #"{"order_id":"a","amount":50}"#)
        let last = try await cache.make("items", #"{"order_id":"a","text":"Case"}"#)
        try await refuse(item, cache)
        #expect(try ready(cache) == (isWaitedFor ? [] : [payment]))
        if !isWaitedFor { try await accept(payment, cache) }
        #expect(try ready(cache) == (isWaitedFor ? [] : [last]))
        let later = try await cache.make("payments", #"{"order_id":"a","amount":60}"#)
        if !isWaitedFor { try await accept(last, cache) }
        #expect(try ready(cache) == (isWaitedFor ? [] : [later]))
    }

    @Test("a change that was made after another has failed waits for those that are still to be sent")
    func afterFailure() async throws {
        let cache = try TestCache(schema: Self.passing)
        _ = try await cache.pull("orders", #"[{"id":"a","status":"new"}]"#)
        let first = try await cache.make("items", #"{"order_id":"a","text":"Screen"}"#)
        let second = try await cache.make("items", #"{"order_id":"a","text":"Case"}"#)
        try await refuse(first, cache)
        try await refuse(second, cache)
        let third = try await cache.make("items", #"{"order_id":"a","text":"Cable"}"#)
        try await cache.change("orders", "a", #"{"status":"closed"}"#)
        #expect(try ready(cache) == [third])
        try await accept(third, cache)
        #expect(try ready(cache) == ["a"])
    }

    @Test("changes of an order that could not be made still wait, but not those behind a refused edit of one")
    func dependents() async throws {
        let cache = try TestCache(schema: Self.passing)
        let new = try await cache.make("orders", #"{"status":"open"}"#)
        _ = try await cache.make("items", #"{"order_id":"\#(new)","text":"Screen"}"#)
        try await refuse(new, cache)
        #expect(try ready(cache).isEmpty)
        _ = try await cache.pull("orders", #"[{"id":"a","status":"new"}]"#)
        try await cache.change("orders", "a", #"{"status":"open"}"#)
        let item = try await cache.make("items", #"{"order_id":"a","text":"Screen"}"#)
        try await refuse("a", cache)
        #expect(try ready(cache) == [item])
    }

    @Test(
        "what waits for a failed change holds up none of its order either, unless its entity holds up others",
        arguments: [true, false])
    func heldUp(isWaitedFor: Bool) async throws {
        let cache = try TestCache(schema: isWaitedFor ? Self.bills : Self.passing)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let failed = try await cache.make("items", #"{"order_id":"b","text":"Screen"}"#)
        let first = try await cache.make("items", #"{"order_id":"a","text":"Case"}"#)
        _ = try await cache.make("payments", #"{"order_id":"a","item_id":"\#(failed)"}"#)
        let next = try await cache.make("items", #"{"order_id":"a","text":"Cable"}"#)
        try await refuse(failed, cache)
        #expect(try ready(cache) == [first], "what is still to be sent comes first")
        let last = try await cache.make("payments", #"{"order_id":"a","amount":60}"#)
        try await accept(first, cache)
        #expect(try ready(cache) == (isWaitedFor ? [] : [next]))
        if !isWaitedFor { try await accept(next, cache) }
        #expect(try ready(cache) == (isWaitedFor ? [] : [last]))
    }

    @Test("of several that wait for a failed change, none holds up the others of its order")
    func allHeldUp() async throws {
        let cache = try TestCache(schema: Self.passing)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let failed = try await cache.make("items", #"{"order_id":"b","text":"Screen"}"#)
        let held = #"{"order_id":"a","item_id":"\#(failed)"}"#
        _ = try await cache.make("payments", held)
        let first = try await cache.make("items", #"{"order_id":"a","text":"Case"}"#)
        _ = try await cache.make("payments", held)
        _ = try await cache.make("payments", held)
        let last = try await cache.make("items", #"{"order_id":"a","text":"Cable"}"#)
        try await refuse(failed, cache)
        #expect(try ready(cache) == [first])
        try await accept(first, cache)
        #expect(try ready(cache) == [last])
    }

    @Test("changes of records without an order wait for none of each other", arguments: ["{}", #"{"order_id":null}"#])
    func without(_ record: String) throws {
        let schema = try EntitySchema(yaml: Self.bills, file: "bills.yaml")
        let payments = try #require(schema["payments"])
        #expect(payments.orderGroup(of: "p", in: try JSONText(parsing: record)) == nil)
        #expect(payments.orderGroup(of: "p", in: try JSONText(parsing: #"{"order_id":"a"}"#)) == "a")
    }

    // MARK: Steps

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 100, at: now).map(\.key)
    }

    /// The upstream takes the creation, and answers the record with `given`, or the key that it was sent with.
    private func accept(_ key: String, as given: String? = nil, _ cache: TestCache) async throws {
        let change = try #require(try cache.store.readyChanges(limit: 100, at: now).first { $0.key == key })
        #expect(try await cache.store.begin(change, at: now))
        let record = change.body.setting("id", to: .string(given ?? key))
        try await cache.store.finish(change.id, .acknowledged(record: record), at: now)
    }

    private func refuse(_ key: String, _ cache: TestCache) async throws {
        let change = try #require(try cache.store.readyChanges(limit: 100, at: now).first { $0.key == key })
        #expect(try await cache.store.begin(change, at: now))
        let failure = PushFailure(.refused, status: 422, message: "no")
        try await cache.store.finish(change.id, .failed(failure), at: now)
    }

    /// The same without any that holds up others when it has failed.
    private static let passing =
        bills
        .replacing("order_within: id", with: "order_within: { field: id, wait_for_failed: false }")
        .replacing("order_within: order_id", with: "order_within: { field: order_id, wait_for_failed: false }")

    private static let bills = """
        schema: bills
        upstream: { base_url: "http://localhost" }
        entities:
          orders:
            fields:
              id: { type: string }
              status: { type: string }
            pull: { path: /orders }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
            order_within: id
          items:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              text: { type: string }
            pull: { path: /items }
            push:
              create: { call: "POST /orders/{order_id}/items" }
              delete: { call: "DELETE /orders/{order_id}/items/{id}" }
            order_within: order_id
          payments:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              item_id: { type: reference, to: items }
              amount: { type: money }
            pull: { path: /payments }
            push: { create: { call: "POST /orders/{order_id}/payments" } }
            order_within: order_id
        """
}
