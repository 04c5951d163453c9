import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Records without a list of their own: only the deletion of their parent shows that they are gone.
@Suite("Records that come only with their parent")
struct DetailDeletionTests {
    private static let relation = "messages: { of: messages, by: order_id, on_delete: cascade }"
    private static let many = "\n    many:\n      \(relation)"

    private static let push = #"push:\#n      create: { call: "POST /orders/{order_id}/messages" }"#

    /// An order with two messages, and another with one.
    private func cache(_ schema: String) async throws -> TestCache {
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        _ = try await cache.pull(
            "messages",
            #"""
            [{"id":"m","order_id":"a","text":"x"},{"id":"n","order_id":"a","text":"y"},
              {"id":"o","order_id":"b","text":"z"}]
            """#)
        return cache
    }

    private static func shop(_ rule: String?) -> String {
        TestCache.shop.replacing(many, with: rule.map { many.replacing(", on_delete: cascade", with: $0) } ?? "")
    }

    @Test(
        "are deleted when the upstream deletes the parent, unless a relation has a rule for that",
        arguments: [(nil, 1), ("", 1), (", on_delete: cascade", 1), (", on_delete: keep", 3), (", on_delete: deny", 3)])
    func deletedThere(_ rule: String?, _ left: Int) async throws {
        let cache = try await cache(Self.shop(rule))
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.store.rowCounts() == ["orders": 1, "messages": left])
        #expect(try cache.record("messages", "o") != nil)
    }

    @Test("are deleted when the upstream confirms the parent's deletion, and not before")
    func deletedHere() async throws {
        let cache = try await cache(Self.shop(nil))
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        #expect(try cache.record("messages", "m") != nil)
        try await cache.send(answer: nil)
        #expect(try cache.store.rowCounts() == ["orders": 1, "messages": 1])
    }

    @Test("stay if they have a list of their own or also come with another entity", arguments: [true, false])
    func otherWays(isListed: Bool) async throws {
        var schema = Self.shop(nil)
        if isListed {
            schema = schema.replacing(Self.push, with: "pull: { path: /messages }\n    \(Self.push)")
        } else {
            schema += """

                  talks:
                    fields: { id: { type: string } }
                    pull: { path: /talks, detail: { path: "/talks/{id}/messages", into: messages, when_changed: any } }
                """
            schema = schema.replacing(
                "order_id: { type: reference, to: orders, index: true, required: true }",
                with:
                    "order_id: { type: reference, to: orders, index: true }\n      talk_id: { type: reference, to: talks }"
            )
        }
        let cache = try await cache(schema)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.store.rowCounts()["messages"] == 3)
    }

    @Test("are in conflict if they were changed here")
    func changedHere() async throws {
        let update = #"update: { call: "PATCH /messages/{id}" }"#
        let schema = Self.shop(nil).replacing(Self.push, with: "\(Self.push)\n      \(update)")
        let cache = try await cache(schema)
        try await cache.store.update("messages", key: "m", body: .object(["text": "mine"]), at: TestCache.now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.record("messages", "n") == nil)
        let conflicts = try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts
        #expect(conflicts.map { $0["record_id"] } == ["m"])
    }
}
