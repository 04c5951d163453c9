import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// An upstream that makes the key of an order from its notes.
@Suite("An edit by which its record gets another key, and whose answer was lost")
struct RenamedRecordTests {
    private static let yaml = TestEngine.shop
        .replacing("  idempotency_header: Idempotency-Key\n", with: "")
        .replacing(
            "create: { call: POST /orders }", with: "create: { call: POST /orders, look_up: { match: [notes] } }"
        )
        .replacing(
            "      notes: { type: string }", with: "      notes: { type: string }\n      total: { type: integer }")

    private static let before = #"[{"id":"n","notes":"n","total":1},{"id":"b","notes":"b","total":1}]"#
    private static let after = #"[{"id":"b","notes":"b","total":1},{"id":"mine","notes":"mine","total":1}]"#

    /// After an edit of the notes of order "n", whose answer was lost; then the upstream has the orders `now`.
    private func lost(
        _ yaml: String = RenamedRecordTests.yaml, known: String = "", now orders: String
    ) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        try test.upstream.set("/orders", Self.before)
        try await pull(test, Self.before)
        if !known.isEmpty { try await pull(test, known) }
        try await test.change("n", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        try test.upstream.set("/orders", orders)
        test.clock.advance(by: .seconds(10))
        return test
    }

    private func pull(_ test: TestEngine, _ records: String) async throws {
        _ = try await test.store.apply(PulledPage(entity: "orders", records: records), at: test.clock.timestamp)
    }

    private func conflicts(_ test: TestEngine) throws -> Int {
        try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count
    }

    /// Until the change has left the queue: first the attempt, then one when the time to settle is over.
    private func send(_ test: TestEngine) async throws {
        try await test.send()
        test.clock.advance(by: .seconds(61))
        try await test.send()
    }

    @Test("is done, and the record keeps the key that it had here", arguments: [false, true])
    func done(isPulled: Bool) async throws {
        let test = try await lost(now: Self.after)
        if isPulled { try await pull(test, Self.after) }
        try await test.change("n", #"{"total":2}"#)
        try await test.send()
        #expect(try conflicts(test) == 0)
        #expect(try test.record("n")?["id"] == "mine" && test.record("n")?["total"] == 2)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").map { $0["total"] } == [1, 2])
        #expect(try test.store.rowCount(of: "orders") == 2)
    }

    @Test("is done once the list shows the record, which may be behind")
    func behind() async throws {
        let test = try await lost(now: #"[{"id":"b","notes":"b","total":1}]"#)
        try await test.send()
        #expect(try test.error() == "unseen")
        try test.upstream.set("/orders", Self.after)
        test.clock.advance(by: .seconds(61))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("n")?["id"] == "mine" && conflicts(test) == 0)
    }

    @Test(
        "meets a deletion by others if no record has what was sent, or one that differs otherwise",
        arguments: [
            #"[{"id":"b","notes":"b","total":1}]"#,
            #"[{"id":"b","notes":"b","total":1},{"id":"mine","notes":"mine","total":7}]"#,
        ])
    func deleted(orders: String) async throws {
        let test = try await lost(now: orders)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("n") == nil && conflicts(test) == 1)
    }

    @Test("does not take over a record that was there before")
    func knownBefore() async throws {
        let test = try await lost(known: Self.after, now: Self.after)
        try await send(test)
        #expect(try test.record("n") == nil && conflicts(test) == 1)
        #expect(try test.record("mine")?["total"] == 1)
    }

    @Test("is not looked for where the schema does not say by what")
    func withoutLookUp() async throws {
        let test = try await lost(Self.yaml.replacing(", look_up: { match: [notes] }", with: ""), now: Self.after)
        try await test.send()
        #expect(try test.record("n") == nil && conflicts(test) == 1)
    }
}
