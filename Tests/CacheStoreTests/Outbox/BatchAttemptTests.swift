import EntitySchema
import JSONText
import Testing

@testable import CacheStore

@Suite("Attempts of several changes in one request")
struct BatchAttemptTests {
    private let now = TestCache.now

    private func cache(_ count: Int = 3) async throws -> TestCache {
        let cache = try TestCache()
        for number in 0..<count { _ = try await cache.make("orders", #"{"notes":"n\#(number)"}"#) }
        return cache
    }

    private func ready(_ cache: TestCache) throws -> [OutboxChange] { try cache.store.readyChanges(limit: 9, at: now) }

    @Test("all of them begin in one transaction, without those that have changed since")
    func begin() async throws {
        let cache = try await cache()
        let read = try ready(cache)
        #expect(try await cache.store.begin(read[1], at: now))
        let begun = try await cache.store.begin(batch: read, at: now)
        #expect(begun == [read[0].id, read[2].id])
        #expect(try ready(cache).isEmpty)
    }

    @Test("a change whose batch did not carry its key is known by that until the attempt is taken back")
    func hiddenKey() async throws {
        let cache = try await cache(1)
        let change = try #require(try ready(cache).first)
        #expect(change.hasShownKey)
        for _ in 1...2 {
            let again = try #require(try ready(cache).first)
            _ = try await cache.store.begin(batch: [again], hidingKeysOf: [again.id], at: now)
            try await cache.store.finish(change.id, .notSent, at: now)
            let back = try #require(try ready(cache).first)
            #expect(back.idempotencyKey == change.idempotencyKey && !back.isTried)
        }
        _ = try await cache.store.begin(batch: [change], hidingKeysOf: [change.id], at: now)
        let failure = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(failure, at: now, counted: true), at: now)
        let unclear = try #require(try ready(cache).first)
        #expect(!unclear.hasShownKey && unclear.isTried)
        #expect(unclear.idempotencyKey.hasSuffix(change.idempotencyKey))
        #expect(try await cache.store.begin(unclear, at: now))
        try await cache.store.finish(change.id, .notSent, at: now)
        #expect(try ready(cache).first?.hasShownKey == false, "the first attempt stays unclear")
    }

    @Test("a batch that carries the keys leaves them as they are")
    func shownKey() async throws {
        let cache = try await cache(1)
        let change = try #require(try ready(cache).first)
        _ = try await cache.store.begin(batch: [change], at: now)
        _ = try await cache.store.recoverInterrupted(at: now) { _ in .zero }
        let again = try #require(try ready(cache).first)
        #expect(again.idempotencyKey == change.idempotencyKey && again.hasShownKey && again.isTried)
    }

    @Test("an interrupted batch without keys is known by that after a restart")
    func interrupted() async throws {
        let cache = try await cache(2)
        let changes = try ready(cache)
        _ = try await cache.store.begin(batch: changes, hidingKeysOf: Set(changes.map(\.id)), at: now)
        _ = try await cache.store.recoverInterrupted(at: now) { _ in .zero }
        #expect(try ready(cache).allSatisfy { !$0.hasShownKey && $0.isTried })
    }
}
