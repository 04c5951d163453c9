import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of changes without keys if the answer to their batch does not say that nothing was applied.
@Suite("A batch whose answer leaves doubt")
struct DoubtfulBatchTests {
    /// The shop without idempotency keys; new orders are looked up.
    private static func shop(_ more: String = "") -> String {
        let batch =
            #"  batch: { call: POST /batch, size: 50, element: { method: "{$method}", path: "{$path}", body: $body }"#
        return TestEngine.shop
            .replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing("  pagination: { style: page }", with: "  pagination: { style: page }\n\(batch)\(more) }")
            .replacing(
                "create: { call: POST /orders }", with: "create: { call: POST /orders, look_up: { match: [notes] } }"
            )
            .replacing(
                #""POST /orders/{order_id}/messages" }"#, with: #""POST /orders/{order_id}/messages", batch: false }"#)
    }

    @Test("one that is redirected may have been taken, so each creation is looked up", arguments: 0...3)
    func redirected(applied: Int) async throws {
        let (test, batches) = (try await TestEngine.creating(3, Self.shop()), BatchRoutes())
        test.upstream.failBatch(.barred(status: 303, "POST /batch answered 303"), applying: applied)
        try await test.drain(batches: batches)
        #expect(test.upstream.pushes.isEmpty)
        #expect(batches.restriction(at: test.clock.timestamp) != nil, "the next batch would be redirected as well")
        for minute in 1...5 { try await test.drain(after: .seconds(61 * minute), batches: batches) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2"])
        #expect(test.upstream.pushes.count == 3 - applied)
    }

    @Test("a redirected change of an atomic batch leaves all of its changes unclear")
    func atomicRedirected() async throws {
        let test = try await TestEngine.editing(3, Self.shop(", atomic: true"))
        test.upstream.fail(.barred(status: 303, "see other"), afterApplying: true)
        test.upstream.failRecords(.unclear(status: nil, "no answer"))
        try await test.drain()
        #expect(try test.store.pendingCount().pending == 3)
        #expect(test.upstream.pushes.isEmpty, "none is sent by itself before it is known what became of it")
    }

    @Test("a gateway that answers 503 may have passed it on, so each creation is looked up")
    func behindCache() async throws {
        let test = try await TestEngine.creating(3, Self.shop())
        test.upstream.failBatch(.barred(status: 503, "backend fetch failed"), applying: 2)
        for minute in 0...5 { try await test.drain(after: .seconds(61 * minute)) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2"])
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a page in place of a refusal leaves creations to be looked up; edits go one by one at once")
    func replacedAnswer() async throws {
        let (test, batches) = (try await TestEngine.creating(3, Self.shop()), BatchRoutes())
        test.upstream.failBatch(.barred(status: 403, "a page", isPage: true), applying: 2)
        for minute in 0...5 { try await test.drain(after: .seconds(61 * minute), batches: batches) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2"])
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 1)
        let edits = try await TestEngine.editing(3, Self.shop())
        edits.upstream.failBatch(.barred(status: 405, "a page", isPage: true))
        try await edits.drain()
        #expect(try edits.store.pendingCount().pending == 0 && edits.upstream.pushes.count == 3)
    }
}
