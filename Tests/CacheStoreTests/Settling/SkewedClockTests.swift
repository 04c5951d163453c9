import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The servers behind one address have clocks of their own, so a later version may have an earlier change time.
@Suite("Settling: an answer with the change counts although its time is earlier than the known one")
struct SkewedClockTests {
    private let now = TestCache.now

    private func version(_ notes: String, _ total: Int, _ second: Int) -> String {
        #"{"id":"a","notes":"\#(notes)","total":\#(total),"updated_at":"2026-03-01T10:00:0\#(second)Z"}"#
    }

    private func cache() async throws -> TestCache {
        try await .with(orders: "[\(version("A", 1, 5))]", conflict: "manual")
    }

    private func pull(_ cache: TestCache, _ record: String, after seconds: Int) async throws {
        let page = PulledPage(
            entity: "orders", records: "[\(record)]", position: try cache.store.position(), view: .list)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    /// Sets the notes to B and sends the edit. `meanwhile` runs before the answer comes.
    private func send(_ cache: TestCache, answer: String, meanwhile: () async throws -> Void) async throws {
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        try await meanwhile()
        try await cache.store.finish(change.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
    }

    private func notes(_ cache: TestCache) throws -> String? { try cache.record("orders", "a")?["notes"]?.string }

    @Test("all of the answer counts, and a list that is behind does not take it back")
    func answer() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: version("B", 2, 4))
        #expect(try cache.store.remote(of: "orders", key: "a")?.text == version("B", 2, 4))
        for seen in [version("A", 1, 5), version("B", 2, 4)] {
            try await pull(cache, seen, after: 1)
            #expect(try notes(cache) == "B")
        }
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).isEmpty)
    }

    @Test("the next edit is based on it, so a list that shows it is no conflict")
    func nextEdit() async throws {
        let cache = try await cache()
        try await send(cache, answer: version("B", 2, 4)) {
            try await cache.change("orders", "a", #"{"notes":"C"}"#)
        }
        for second in [1, 61] { try await pull(cache, version("B", 2, 4), after: second) }
        #expect(try notes(cache) == "C")
        #expect(try cache.conflictCount() == 0)
    }

    @Test("a version that a pull has brought with the change and another person's edit stays")
    func overtaken() async throws {
        let cache = try await cache()
        try await send(cache, answer: version("B", 2, 7)) {
            try await pull(cache, version("B", 9, 8), after: 1)
        }
        #expect(try cache.store.remote(of: "orders", key: "a")?.text == version("B", 9, 8))
    }

    @Test("a version that a pull has brought after the change was sent, and that has undone it, stays")
    func undone() async throws {
        let cache = try await cache()
        try await send(cache, answer: version("B", 1, 7)) {
            try await pull(cache, version("A", 2, 8), after: 1)
        }
        #expect(try cache.store.remote(of: "orders", key: "a")?.text == version("A", 2, 8))
        #expect(try notes(cache) == "A")
    }
}
