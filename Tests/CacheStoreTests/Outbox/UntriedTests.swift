import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Retries are rationed, first attempts are not: each change must be one of the two.
@Suite("Which changes were attempted before")
struct UntriedTests {
    private let now = TestCache.now
    private let failure = PushFailure(.server, status: 503, message: "down")

    private func cache(_ record: String) async throws -> TestCache {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n"))
        _ = try await cache.pull("orders", "[\(record)]")
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        return cache
    }

    private func attempt(_ outcome: PushOutcome, takingBack: Bool = false, _ cache: TestCache) async throws {
        let change = try await cache.begun()
        try await cache.store.finish(change.id, outcome, takingBack: takingBack, at: now)
    }

    private func untried(_ cache: TestCache) throws -> [OutboxChange] {
        try cache.store.readyChanges(limit: 9, at: now, untried: true)
    }

    @Test("a change that was refused for now, and then could not be sent, is a retry")
    func takenBack() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        #expect(try untried(cache).map(\.wasAttempted) == [false])
        try await attempt(.waiting(failure, at: now, counted: false), takingBack: true, cache)
        try await attempt(.notSent, cache)
        #expect(try untried(cache).isEmpty)
        let retry = try #require(try cache.store.leastTriedChange(at: now))
        #expect(retry.wasAttempted && !retry.isTried)
    }

    @Test("an edit that became a creation is new")
    func recreated() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await attempt(.waiting(failure, at: now + .seconds(60), counted: true), cache)
        #expect(try untried(cache).isEmpty)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        let new = try untried(cache)
        #expect(new.map(\.operation) == [.create] && new.map(\.wasAttempted) == [false])
        #expect(try cache.store.leastTriedChange(at: now) == nil)
    }
}
