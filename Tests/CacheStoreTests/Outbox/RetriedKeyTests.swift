import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The idempotency key under which a person's retry is sent")
struct RetriedKeyTests {
    private let now = TestCache.now

    /// Whether the first change has another key once it was retried: its first answer was lost, and its repeat failed so.
    private func isRenewed(_ cache: TestCache, _ errorClass: ErrorClass) async throws -> Bool {
        let lost = PushFailure(.timeout, message: "no answer")
        let change = try await cache.begun()
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        try await cache.send(.failed(PushFailure(errorClass, message: "no")))
        #expect(try await cache.store.retry(nil, at: now) == 1)
        return try await cache.begun().idempotencyKey != change.idempotencyKey
    }

    @Test(
        "an edit that was refused after a lost answer gets another, as some servers know the first with another body",
        arguments: [(ErrorClass.refused, true), (.server, false)])
    func edit(_ errorClass: ErrorClass, isNew: Bool) async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        #expect(try await isRenewed(cache, errorClass) == isNew)
    }

    @Test("an edit whose lost attempt was in a batch without its key gets one that the upstream does not know either")
    func batched() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        _ = try await cache.store.begin(batch: [change], hidingKeysOf: [change.id], at: now)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        try await cache.send(.failed(PushFailure(.refused, message: "no")))
        #expect(try await cache.store.retry(nil, at: now) == 1)
        let retried = try await cache.begun()
        #expect(!retried.hasShownKey && !retried.idempotencyKey.hasSuffix(change.idempotencyKey))
    }

    @Test("a creation keeps its own: its first attempt may have made the record")
    func creation() async throws {
        let cache = try TestCache()
        _ = try await cache.make("orders", #"{"notes":"mine"}"#)
        #expect(try await !isRenewed(cache, .refused))
    }
}
