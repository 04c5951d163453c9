import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("New records that wait for another one by a value")
struct PartnerTests {
    private let now = TestCache.now

    @Test(
        "a new record waits for the new one that has the same value in the field that it names, in upper or lower case",
        arguments: ["y", "Y"])
    func waitsFor(text: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"known"}]"#)
        for notes in ["x", "y"] {
            _ = try await cache.store.create("orders", body: .object(["notes": .string(notes)]), at: now)
        }
        for word in [text, "known", "none"] {
            let message = JSONText.object(["order_id": "a", "text": .string(word)])
            _ = try await cache.store.create("messages", body: message, at: now)
        }
        #expect(try ready(cache).map { ($0.body["notes"] ?? $0.body["text"])?.plain } == ["x", "y"])
        let order = try ready(cache)[1]
        try await send(order, .acknowledged(record: JSONText(parsing: #"{"id":"b","notes":"y"}"#)), cache)
        #expect(try ready(cache).map { ($0.body["notes"] ?? $0.body["text"])?.plain } == ["x", text])
    }

    @Test(
        "a new record no longer waits for another one once the server has that already, and still for a refused one",
        arguments: [true, false])
    func waitsForExisting(isThere: Bool) async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        _ = try await cache.store.create("orders", body: .object(["notes": "x"]), at: now)
        let message = JSONText.object(["order_id": "a", "text": "x"])
        _ = try await cache.store.create("messages", body: message, at: now)
        let order = try #require(try ready(cache).first)
        let failure = PushFailure(isThere ? .conflict : .refused, status: isThere ? 409 : 422, message: "no")
        try await send(order, .failed(failure), cache)
        #expect(try ready(cache).map(\.entity) == (isThere ? ["messages"] : []))
        let other = JSONText.object(["order_id": "b", "text": "x"])
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        _ = try await cache.store.create("messages", body: other, at: now)
        #expect(try ready(cache).map(\.entity) == (isThere ? ["messages", "messages"] : []))
    }

    // MARK: Steps

    private static let schema =
        TestCache.shop
        .replacing("notes: { type: string }", with: "notes: { type: string, index: true }")
        .replacing("text: { type: string,", with: "text: { type: string, waits_for: orders.notes,")

    private func ready(_ cache: TestCache) throws -> [OutboxChange] {
        try cache.store.readyChanges(limit: 100, at: now)
    }

    private func send(_ change: OutboxChange, _ outcome: PushOutcome, _ cache: TestCache) async throws {
        #expect(try await cache.store.begin(change, at: now))
        try await cache.store.finish(change.id, outcome, at: now)
    }
}
