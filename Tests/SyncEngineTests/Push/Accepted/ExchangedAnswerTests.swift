import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A creation that is answered with the record of another one under way")
struct ExchangedAnswerTests {
    private static let withoutKeys = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")

    /// Sends a creation of Ada while another one is being sent, is answered with Bob, and returns its local key.
    private func create(besides other: String, _ test: TestEngine) async throws -> String {
        let now = test.clock.timestamp
        let key = try await test.store.create("orders", body: JSONText.object(["notes": "Ada"]), at: now)
        _ = try await test.store.create("orders", body: JSONText.object(["notes": .string(other)]), at: now)
        let changes = try test.store.readyChanges(limit: 2, at: now)
        let ada = try #require(changes.first)
        let another = try #require(changes.last)
        #expect(try await test.store.begin(another, at: now))
        try test.upstream.answer(#"{"id":"other","notes":"Bob"}"#, times: 1)
        var pusher = test.pusher(at: now, callableSince: now)
        pusher.passage = PushPassage(underWay: { [another.id] })
        _ = try await pusher.send(ada)
        return key
    }

    @Test("is looked up")
    func lookedUp() async throws {
        let test = try TestEngine(schema: TestEngine.shopWithLookUp)
        let key = try await create(besides: "Bob", test)
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record(key)?["id"] == "server-1")
        #expect(try test.record("other") == nil)
    }

    @Test("is repeated under its key")
    func repeated() async throws {
        let test = try TestEngine()
        let key = try await create(besides: "Bob", test)
        #expect(try test.record("other") == nil)
        try await test.send(after: .seconds(1))
        #expect(test.upstream.pushes.count == 2)
        #expect(test.upstream.records("/orders").count == 1)
        #expect(try test.record(key)?["id"] == "server-1")
    }

    @Test("is left to a person if nothing shows which record it made")
    func unclear() async throws {
        let test = try TestEngine(schema: Self.withoutKeys)
        _ = try await create(besides: "Bob", test)
        #expect(try test.store.pendingCount().failed == 1)
        #expect(try test.record("other") == nil)
    }

    @Test("is believed if the record has not what the other one sent")
    func believed() async throws {
        let test = try TestEngine(schema: TestEngine.shopWithLookUp)
        let key = try await create(besides: "Eve", test)
        #expect(try test.record(key)?["id"] == "other")
    }
}
