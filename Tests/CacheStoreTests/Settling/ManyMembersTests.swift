import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// The upstream may give one record as many members as an answer has room for. All writes wait while it is merged.
@Suite("Records with many members", .timeLimit(.minutes(10)))
struct ManyMembersTests {
    private static let many = 50_000
    private let now = TestCache.now

    private func record(_ notes: String, _ prefix: String) -> String {
        let others = (0..<Self.many).map { #""\#(prefix)\#($0)":0"# }.joined(separator: ",")
        return #"{"id":"a","notes":"\#(notes)",\#(others)}"#
    }

    private func remote(_ cache: TestCache) throws -> JSONText {
        try #require(try cache.store.remote(of: "orders", key: "a"))
    }

    @Test("two views that have no member in common are merged in one pass")
    func views() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(record("list", "l"))]")
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        try await cache.send(answer: record("mine", "a"))
        let merged = try remote(cache)
        #expect(merged["notes"] == "mine")
        #expect(merged["l\(Self.many - 1)"] == 0 && merged["a\(Self.many - 1)"] == 0)
    }

    @Test("the version of a record is kept without looking for each member in all of the record")
    func version() async throws {
        let yaml = TestCache.shop.replacing("upstream:\n", with: "upstream:\n  version: { etag: true }\n")
        let cache = try TestCache(schema: yaml)
        let records = "[\(record("list", "l"))]"
        _ = try await cache.pull("orders", records)
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: records, version: "1", view: .single), at: now)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.version == "1")
    }

    @Test("one that is created again is made of its fields")
    func recreated() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n"))
        _ = try await cache.pull("orders", "[\(record("list", "l"))]")
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create && creation.body["notes"] == "mine" && creation.body.members.count <= 2)
        _ = try await cache.store.begin(creation, at: now)
        let answer = try JSONText(parsing: record("mine", "l"))
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        #expect(try remote(cache)["notes"] == "mine")
    }
}
