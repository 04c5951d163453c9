import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Answers that arrive after something newer.
@Suite("Views that come too late are read again")
struct LateViewTests {
    private let now = TestCache.now

    private func cache(hasToken: Bool = true) throws -> TestCache {
        let since = "since: { param: since, field: updated_at }"
        let token = "since: { token: delta, param: delta, field: updated_at }"
        return try TestCache(schema: hasToken ? TestCache.shop.replacing(since, with: token) : TestCache.shop)
    }

    private func notes(_ cache: TestCache) throws -> String? { try cache.record("orders", "a")?["notes"]?.string }

    private func unconfirmed(_ cache: TestCache, after seconds: Int) async throws -> [String] {
        try await cache.store.unconfirmed(limit: 10, at: now + .seconds(seconds)).map(\.key)
    }

    @Test(
        "what a server shows once, on a page requested before our change was acknowledged, is read by its key later",
        arguments: [
            #"[{"id":"a","notes":"B","total":7}]"#, #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#,
        ])
    func shownOnce(records: String) async throws {
        for hasToken in [false, true] {
            let cache = try cache(hasToken: hasToken)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"A"}]"#)
            try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"B"}"#), at: now)
            let position = try cache.store.position()
            let change = try await cache.begun()
            let answer = try JSONText(parsing: #"{"id":"a","notes":"B"}"#)
            try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
            _ = try await cache.store.apply(PulledPage(entity: "orders", records: records, position: position), at: now)
            #expect(try notes(cache) == "B")
            #expect(try await unconfirmed(cache, after: 61) == (hasToken ? ["a"] : []))
        }
    }

    private func read(_ cache: TestCache, _ record: String, after seconds: Int) async throws {
        let page = PulledPage(entity: "orders", records: "[\(record)]", view: .single)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    @Test("a record that came by itself is read again, where a list with a token would not name its deletion")
    func single() async throws {
        for hasToken in [false, true] {
            let cache = try cache(hasToken: hasToken)
            try await read(cache, #"{"id":"a"}"#, after: 0)
            #expect(try await unconfirmed(cache, after: 61) == (hasToken ? ["a"] : []))
        }
    }

    @Test("a single record that is older than what a list with a token has shown is read again, and counts then")
    func older() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"new","updated_at":"2026-01-01T00:00:02Z"}]"#)
        let old = #"{"id":"a","notes":"old","updated_at":"2026-01-01T00:00:01Z"}"#
        try await read(cache, old, after: 1)
        #expect(try notes(cache) == "new")
        #expect(try await unconfirmed(cache, after: 62) == ["a"])
        try await read(cache, old, after: 62)
        #expect(try notes(cache) == "old", "the server may have been restored")
    }

    @Test("a single record whose time has whole seconds is not older for that")
    func wholeSeconds() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:01.900Z"}]"#)
        try await read(cache, #"{"id":"a","notes":"B","updated_at":"2026-01-01T00:00:01Z"}"#, after: 1)
        #expect(try notes(cache) == "B")
    }
}
