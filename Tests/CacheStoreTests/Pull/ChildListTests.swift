import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Child lists")
struct ChildListTests {
    private func apply(
        _ records: String, parents: [String] = ["a", "b"], complete: [String],
        deletes: PulledChildren.Deletes = .all, position: Int64 = .max, _ cache: TestCache
    ) async throws -> ChildOutcome {
        let children = PulledChildren(
            entity: "messages", by: "order_id", records: records, parents: parents, complete: complete,
            deletes: deletes)
        let page = PulledPage(entity: "orders", records: "[]", position: position, children: [children])
        return try await cache.store.apply(page, at: TestCache.now).children["messages"] ?? ChildOutcome()
    }

    private func filled(schema: String = TestCache.shop) async throws -> TestCache {
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        _ = try await cache.pull(
            "messages", #"[{"id":"m","order_id":"a"},{"id":"n","order_id":"a"},{"id":"o","order_id":"b"}]"#)
        return cache
    }

    @Test("a child missing from its parent's complete list is deleted; those of other parents stay")
    func missing() async throws {
        let cache = try await filled()
        let outcome = try await apply(#"[{"id":"m","order_id":"a"}]"#, complete: ["a"], cache)
        #expect(outcome.deleted == 1)
        #expect(try cache.keys(ListQuery(entity: "messages")) == ["m", "o"])
        #expect(try cache.store.rowCounts()["messages"] == 2)
    }

    @Test(
        "a child whose deletion cannot be sent is gone once its parent's list lacks it; another waits for its deletion")
    func deletionFailed() async throws {
        let create = #"create: { call: "POST /orders/{order_id}/messages" }"#
        let update = #"update: { call: "PATCH /messages/{id}" }"#
        let delete = #"delete: { call: "DELETE /messages/{id}" }"#
        let routes = [create, update, delete].joined(separator: "\n      ")
        let cache = try await filled(schema: TestCache.shop.replacing(create, with: routes))
        func fail() async throws {
            let change = try await cache.begun()
            let failure = PushFailure(.timeout, message: "no answer")
            try await cache.store.finish(change.id, .failed(failure), at: TestCache.now)
        }
        try await cache.store.update("messages", key: "m", body: JSONText(parsing: #"{"text":"x"}"#), at: TestCache.now)
        try await fail()
        try await cache.store.delete("messages", key: "m", at: TestCache.now)
        try await cache.store.delete("messages", key: "o", at: TestCache.now)
        try await fail()
        try await cache.store.delete("messages", key: "n", at: TestCache.now)
        #expect(try await apply("[]", complete: ["a", "b"], cache).deleted == 2)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        let left = try ["m", "n", "o"].filter { try cache.store.remote(of: "messages", key: $0) != nil }
        #expect(left == ["n"])
    }

    @Test("of a parent that comes again, its last children count as missing")
    func missingAgain() {
        var (sum, last) = (ChildOutcome(), ChildOutcome())
        sum.missing = ["a": ["m", "n"], "b": ["o"]]
        last.missing = ["a": ["n"]]
        sum += last
        #expect(sum.missing == ["a": ["n"], "b": ["o"]])
    }

    @Test("an incomplete list deletes nothing")
    func incomplete() async throws {
        let cache = try await filled()
        #expect(try await apply(#"[{"id":"m","order_id":"a"}]"#, complete: [], cache) == ChildOutcome())
        #expect(try cache.store.rowCounts()["messages"] == 3)
    }

    @Test("missing children are named by their parents; only those that were missing before are deleted")
    func named() async throws {
        let cache = try await filled()
        let first = try await apply("[]", complete: ["a", "b"], deletes: .none, cache)
        #expect(first.missing.mapValues(Set.init) == ["a": ["m", "n"], "b": ["o"]])
        #expect(try cache.store.rowCounts()["messages"] == 3)
        let second = try await apply("[]", complete: ["a"], deletes: .only(["m"]), cache)
        #expect(second.deleted == 1)
        #expect(second.missing == ["a": ["n"]])
        #expect(try cache.keys(ListQuery(entity: "messages")) == ["n", "o"])
    }

    @Test("deleting a parent locally also deletes its children once the server has acknowledged it")
    func deletedHere() async throws {
        let cache = try await filled()
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        let change = try await cache.begun()
        #expect(try cache.record("messages", "m") == nil)
        let before = try #require(try cache.store.rowCounts()["messages"])
        try await cache.store.finish(change.id, .acknowledged(record: nil), at: TestCache.now)
        #expect(try cache.store.rowCounts()["messages"] ?? 0 < before)
    }

    @Test("a child created locally stays, before and after its acknowledgement")
    func madeHere() async throws {
        let cache = try await filled()
        let position = try cache.store.position()
        _ = try await cache.store.create(
            "messages", body: JSONText(parsing: #"{"id":"x","order_id":"a","text":"t"}"#), at: TestCache.now)
        #expect(try await apply(#"[{"id":"m"},{"id":"n"}]"#, complete: ["a"], position: position, cache).deleted == 0)
        try await cache.send(answer: nil)
        #expect(try await apply(#"[{"id":"m"},{"id":"n"}]"#, complete: ["a"], position: position, cache).deleted == 0)
        #expect(try cache.record("messages", "x") != nil)
    }

    @Test("children of a parent that was deleted since they were asked for are not stored")
    func parentDeleted() async throws {
        let cache = try await filled()
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-03-01T10:00:00Z"}]"#)
        let outcome = try await apply(
            #"[{"id":"m","order_id":"a"},{"id":"o","order_id":"b"},{"id":"p","order_id":"b"}]"#, complete: ["a", "b"],
            cache)
        #expect(outcome.written == 1)
        #expect(try cache.keys(ListQuery(entity: "messages")) == ["o", "p"])
    }

    @Test("a child that is being created when its parent is deleted upstream goes with it")
    func createdMeanwhile() async throws {
        let cache = try await filled()
        for name in ["x", "y"] {
            let body = try JSONText(parsing: #"{"id":"\#(name)","order_id":"a","text":"t"}"#)
            _ = try await cache.store.create("messages", body: body, at: TestCache.now)
        }
        let change = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-03-01T10:00:00Z"}]"#)
        #expect(try cache.record("messages", "x") != nil, "its outcome is not known yet")
        let answer = try JSONText(parsing: #"{"id":"x","order_id":"a","text":"t"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        #expect(try cache.record("messages", "x") == nil)
        #expect(try cache.record("messages", "y") != nil, "what was not sent is kept")
    }

    @Test("the field that refers to the parent is always indexed, so that a page costs no table scan")
    func indexed() throws {
        let yaml = TestCache.shop.replacing(
            "type: reference, to: orders, index: true,", with: "type: reference, to: orders,")
        let cache = try TestCache(schema: yaml)
        let message = try #require(cache.store.schema["messages"])
        #expect(message[field: "order_id"]?.indexed == true)
    }

    @Test("a new record that its parent's list lacks stays, and is looked for when the server must have caught up")
    func newChild() async throws {
        let cache = try await filled()
        let now = TestCache.now
        _ = try await cache.store.create(
            "messages", body: JSONText(parsing: #"{"order_id":"a","text":"mine"}"#), at: now)
        let creation = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"new","order_id":"a","text":"mine"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        _ = try await apply(#"[{"id":"m","order_id":"a"},{"id":"n","order_id":"a"}]"#, complete: ["a"], cache)
        #expect(try cache.record("messages", "new") != nil)
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key) == ["new"])
    }

    @Test("a child that was just changed stays if its parent's lists lack it, and is looked for later")
    func changedChild() async throws {
        let create = #"create: { call: "POST /orders/{order_id}/messages" }"#
        let update = #"update: { call: "PATCH /messages/{id}" }"#
        let cache = try await filled(schema: TestCache.shop.replacing(create, with: "\(create)\n      \(update)"))
        let now = TestCache.now
        try await cache.store.update("messages", key: "n", body: JSONText(parsing: #"{"text":"new"}"#), at: now)
        let change = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"n","order_id":"a","text":"new"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        for _ in 1...2 {
            #expect(try await apply(#"[{"id":"m","order_id":"a"}]"#, complete: ["a"], cache).deleted == 0)
        }
        #expect(try cache.record("messages", "n") != nil)
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key) == ["n"])
    }
}
