import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("A change that the upstream asked to wait with")
struct ThrottledChangeTests {
    @Test("is not sent before it is due, though the upstream is back")
    func waits() async throws {
        let cache = try TestCache()
        let now = TestCache.now
        let due = now + .seconds(600)
        _ = try await cache.store.create("orders", body: .object(["notes": "one"]), at: now)
        let change = try await cache.begun()
        let failure = PushFailure(.throttled, message: "too many")
        try await cache.store.finish(
            change.id, .waiting(failure, at: due, counted: false), takingBack: true, at: now)
        try await cache.store.hastenWaiting(at: now)
        #expect(try cache.store.nextAttempt() == due)
        #expect(try cache.store.leastTriedChange(at: now) == nil)
        #expect(try cache.store.leastTriedChange(at: due) != nil)
    }
}
