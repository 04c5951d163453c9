import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Objects of which only the members that change are sent")
struct MemberMergeTests {
    private let now = TestCache.now

    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields: { id: { type: string }, meta: { type: object } }
            pull: { path: /orders }
            push: { update: { call: "PATCH /orders/{id}", encoding: application/merge-patch+json } }
        """

    /// With an edit of an object from `base` to `local`, and a page with `server` after it.
    private func cache(
        _ base: String, _ local: String, _ server: String, encoding: String = "application/merge-patch+json"
    ) async throws -> TestCache {
        let yaml = Self.schema.replacing("application/merge-patch+json", with: encoding)
        let cache = try TestCache(schema: yaml)
        _ = try await cache.pull("orders", #"[{"id":"a","meta":\#(base)}]"#)
        try await cache.change("orders", "a", #"{"meta":\#(local)}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","meta":\#(server)}]"#)
        return cache
    }

    private func conflicts(_ cache: TestCache) throws -> Int {
        try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.count
    }

    @Test(
        "members that one side has changed are merged, and the result is sent",
        arguments: [
            (#"{"a":1}"#, #"{"a":2}"#, #"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#),
            (#"{"a":1,"b":1}"#, #"{"b":1}"#, #"{"a":1,"b":2}"#, #"{"b":2}"#),
            (#"{"a":1}"#, #"{"a":1,"c":1}"#, #"{"b":1}"#, #"{"b":1,"c":1}"#),
            (#"{"a":{"x":1,"y":1}}"#, #"{"a":{"x":2,"y":1}}"#, #"{"a":{"x":1,"y":2}}"#, #"{"a":{"x":2,"y":2}}"#),
        ])
    func merged(_ base: String, _ local: String, _ server: String, _ merged: String) async throws {
        let cache = try await cache(base, local, server)
        #expect(try conflicts(cache) == 0)
        #expect(try cache.record("orders", "a")?["meta"]?.text == merged)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["meta"]?.text == merged)
    }

    @Test("a member that both sides have changed is a conflict, and so is an object that is sent as a whole")
    func conflict() async throws {
        let both = try await cache(#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#)
        #expect(try conflicts(both) == 1)
        let whole = try await cache(#"{"a":1}"#, #"{"a":2}"#, #"{"a":1,"b":1}"#, encoding: "json")
        #expect(try conflicts(whole) == 1)
    }

    @Test("a member that others have added before an edit was answered is not removed by the next edit")
    func answered() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", #"[{"id":"a","meta":{"a":1}}]"#)
        try await cache.change("orders", "a", #"{"meta":{"a":2}}"#)
        let first = try await cache.begun()
        try await cache.change("orders", "a", #"{"meta":{"a":3}}"#)
        let answer = try JSONText(parsing: #"{"id":"a","meta":{"a":2,"b":1}}"#)
        try await cache.store.finish(first.id, .acknowledged(record: answer), at: now)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["meta"]?.text == #"{"a":3,"b":1}"#)
        #expect(try conflicts(cache) == 0)
    }
}
