import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of changes that go out in one request.
@Suite("Sending a batch")
struct BatchPusherTests {
    private static let element = #"{ method: "{$method}", path: "{$path}", key: "{$key}", body: $body }"#

    /// The shop with batches, and with keys in their elements unless `element` says otherwise.
    private static func shop(size: Int = 50, element: String = element, more: String = "") -> String {
        TestEngine.shop.replacing(
            "  pagination: { style: page }",
            with: "  pagination: { style: page }\n"
                + "  batch: { call: POST /batch, size: \(size), element: \(element)\(more) }")
    }

    private static let withoutKeys = #"{ method: "{$method}", path: "{$path}", body: $body }"#

    private static let lookUp = (
        "create: { call: POST /orders }", "create: { call: POST /orders, look_up: { match: [notes] } }"
    )

    /// Batches without keys, so what becomes of a lost creation is looked up.
    private static let shopWithoutKeys = shop(element: withoutKeys).replacing(lookUp.0, with: lookUp.1)
        .replacing(
            #""POST /orders/{order_id}/messages" }"#, with: #""POST /orders/{order_id}/messages", batch: false }"#)

    private func counts(_ test: TestEngine) throws -> PendingCount { try test.store.pendingCount() }

    // MARK: What goes out together

    @Test("a thousand edits take twenty requests, in the queue's order")
    func requests() async throws {
        let test = try await TestEngine.editing(1000, Self.shop())
        try await test.drain()
        #expect(test.upstream.batches.count == 20 && test.upstream.pushes.isEmpty)
        #expect(test.upstream.batches.allSatisfy { $0.elements.count == 50 })
        #expect(Set(test.upstream.batches.flatMap(\.elements).map(\.key)).count == 1000)
        let first = try #require(test.upstream.batches.min { $0.elements[0].key.count < $1.elements[0].key.count })
        #expect(first.elements.map(\.key) == (0..<50).map { "o\($0)" })
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == (0..<1000).map { "w\($0)" }.sorted())
    }

    @Test("a change that is ready alone takes its own route, and one batch takes what is ready")
    func few() async throws {
        for (edits, batches) in [(1, []), (2, [2]), (3, [3])] {
            let test = try await TestEngine.editing(edits, Self.shop())
            try await test.drain()
            #expect(test.upstream.batches.map(\.elements.count) == batches)
            #expect(test.upstream.pushes.count == (edits == 1 ? 1 : 0))
            #expect(try counts(test).pending == 0)
        }
    }

    @Test("a batch has no more elements and bytes than the schema allows")
    func limits() async throws {
        let test = try await TestEngine.editing(10, Self.shop(size: 4))
        try await test.drain(slots: 1)
        #expect(test.upstream.batches.map(\.elements.count) == [4, 4, 2])
        let large = try await TestEngine.editing(20, Self.shop(more: ", max_bytes: 1KiB"))
        try await large.drain(slots: 1)
        #expect(large.upstream.batches.count > 1)
        for batch in large.upstream.batches {
            #expect(batch.request(large.store.schema.upstream).body.map { $0.bytes.count < 1200 } == true)
        }
        #expect(try counts(large).pending == 0)
    }

    @Test("a change that waits for another one is not sent with it")
    func dependents() async throws {
        let test = try TestEngine(schema: Self.shop())
        test.upstream.keepKeys()
        for _ in 0..<2 {
            let order = try await test.store.create("orders", body: .object(["notes": "n"]), at: test.clock.timestamp)
            let message = JSONText.object(["order_id": .string(order)])
            _ = try await test.store.create("messages", body: message, at: test.clock.timestamp)
        }
        try await test.drain()
        let sent = test.upstream.batches.map { $0.elements.map(\.request.entity) }
        #expect(sent == [["orders", "orders"], ["messages", "messages"]])
        #expect(try counts(test).pending == 0)
    }

    @Test("a creation whose result has a key that cannot be used is left to a person, the others are not")
    func unusableKey() async throws {
        let test = try TestEngine(schema: Self.shop())
        for notes in ["one", "two"] {
            _ = try await test.store.create(
                "orders", body: .object(["notes": .string(notes)]), at: test.clock.timestamp)
        }
        try test.upstream.answer(#"{"id":"..","notes":"one"}"#, times: 1, applying: false)
        try await test.drain()
        #expect(test.upstream.batches.count == 1)
        #expect(try counts(test) == PendingCount(pending: 0, failed: 1))
        #expect(try test.store.rowCounts()["orders"] == 2)
    }

    @Test("an edit that a reading precedes goes by itself")
    func readFirst() async throws {
        let yaml = Self.shop().replacing(#""PATCH /orders/{id}""#, with: #""PUT /orders/{id}""#)
        let test = try await TestEngine.editing(3, yaml)
        try await test.drain()
        #expect(test.upstream.batches.isEmpty && test.upstream.pushes.count == 3)
    }

    @Test("a step that was taken back is in no batch, and is left out once the record was read")
    func stepTakenBack() async throws {
        let yaml = Self.shop().replacing("notes: { type: string }", with: "notes: { type: string, steps: true }")
        let test = try await TestEngine.editing(3, yaml)
        try await test.change("o0", #"{"notes":"n"}"#)
        try await test.drain()
        #expect(test.upstream.batches.map { $0.elements.map(\.key) } == [["o1", "o2"]])
        #expect(test.upstream.pushes.isEmpty)
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
    }

    // MARK: Results

    @Test("each change is settled by its own result, as if it had been sent by itself")
    func results() async throws {
        let test = try await TestEngine.editing(6, Self.shop())
        test.upstream.refuse { request in
            switch request.path {
            case "/orders/o1": .refused(status: 422, "too long")
            case "/orders/o2": .changed(status: 412, "another version")
            case "/orders/o3": .unclear(status: 500, "broken")
            default: nil
            }
        }
        try await test.drain()
        #expect(test.upstream.batches.map(\.elements.count) == [6])
        // Merged, and sent again by itself.
        #expect(Set(test.upstream.pushes.map(\.request.path)) == ["/orders/o2"])
        #expect(try counts(test) == PendingCount(pending: 2, failed: 1))
        test.upstream.refuse(nil)
        try await test.drain(after: .seconds(60))
        #expect(try counts(test) == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.batches.count == 1, "what was tried goes by itself")
        #expect(test.notes == ["n", "w0", "w2", "w3", "w4", "w5"])
    }

    @Test("a change whose result refuses the token goes by itself, which renews it")
    func unauthorized() async throws {
        let test = try await TestEngine.editing(3, Self.shop())
        test.upstream.refuse { $0.path == "/orders/o1" ? .unauthorized("expired") : nil }
        await #expect(throws: UpstreamError.unauthorized("expired")) { try await test.drain() }
        #expect(test.upstream.pushes.map(\.request.path) == ["/orders/o1"])
        #expect(try counts(test) == PendingCount(pending: 1, failed: 0))
    }

    @Test("a change without a result is read, and not taken for done")
    func missing() async throws {
        let test = try await TestEngine.editing(3, Self.shop())
        test.upstream.withholdResults([1])
        test.upstream.failRecords(.unclear(status: nil, "no answer"))
        try await test.drain()
        #expect(try counts(test).pending == 1)
        test.upstream.failRecords(nil)
        try await test.drain(after: .seconds(60))
        #expect(try counts(test).pending == 0)
        #expect(test.notes == ["w0", "w1", "w2"])
    }

    // MARK: Lost answers

    @Test(
        "after a lost answer each change is repeated by itself under its own key, and none is doubled", arguments: 0...4
    )
    func lost(applied: Int) async throws {
        let test = try await TestEngine.creating(4, Self.shop())
        test.upstream.failBatch(.unclear(status: nil, "no answer"), applying: applied)
        try await test.drain()
        #expect(try counts(test).pending == 4)
        try await test.drain(after: .seconds(60))
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2", "w3"])
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
        let keys = Set(test.upstream.batches[0].elements.map(\.idempotencyKey))
        #expect(Set(test.upstream.pushes.map(\.key)) == keys)
    }

    @Test(
        "a creation whose batch did not carry its key is looked up, though the upstream knows keys", arguments: 0...4)
    func lostWithoutKeys(applied: Int) async throws {
        let yaml = Self.shopWithoutKeys
        let test = try await TestEngine.creating(4, yaml)
        test.upstream.failBatch(.unclear(status: nil, "no answer"), applying: applied)
        try await test.drain()
        for minute in 1...5 { try await test.drain(after: .seconds(61 * minute)) }
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2", "w3"])
        #expect(test.upstream.pushes.count == 4 - applied)
    }

    @Test("nor is it repeated for an answer that had no record")
    func emptyWithoutKeys() async throws {
        let test = try await TestEngine.creating(3, Self.shopWithoutKeys)
        test.upstream.answerEmpty(times: 3)
        for minute in 0...3 { try await test.drain(after: .seconds(61 * minute)) }
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2"])
        #expect(test.upstream.pushes.isEmpty)
    }

    @Test("so is one whose process ended before the answer, whatever the schema says at the next start")
    func crashed() async throws {
        let yaml = Self.shopWithoutKeys
        let test = try await TestEngine.creating(3, yaml)
        test.upstream.failBatch(.cancelled, applying: 2)
        await #expect(throws: CancellationError.self) { try await test.drain() }
        let plain = try TestEngine(
            upstream: test.upstream, store: test.store,
            schema: TestEngine.shop.replacing(Self.lookUp.0, with: Self.lookUp.1))
        _ = try await test.store.recoverInterrupted(at: test.clock.timestamp) { _ in .zero }
        for minute in 1...5 { try await plain.drain(after: .seconds(61 * minute)) }
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        #expect(test.notes == ["w0", "w1", "w2"])
    }

    @Test("without keys and look-up, a person checks what became of a lost creation")
    func unknowable() async throws {
        let yaml = Self.shop(element: Self.withoutKeys).replacing("  idempotency_header: Idempotency-Key\n", with: "")
        let test = try await TestEngine.creating(3, yaml)
        test.upstream.failBatch(.unclear(status: nil, "no answer"), applying: 2)
        try await test.drain()
        try await test.drain(after: .seconds(61))
        #expect(try counts(test) == PendingCount(pending: 0, failed: 3))
        #expect(test.upstream.pushes.isEmpty)
    }

    @Test("changes of a batch that could not be sent, or had to wait, are batched again as if they had not been tried")
    func notSent() async throws {
        for error in [
            UpstreamError.offline("no route"), .throttled(.seconds(5), "slow down"), .unauthorized("expired"),
        ] {
            let test = try await TestEngine.creating(3, Self.shopWithoutKeys)
            let keys = try test.store.readyChanges(limit: 9, at: test.clock.timestamp).map(\.idempotencyKey)
            test.upstream.failBatch(error)
            await #expect(throws: error) { try await test.drain() }
            let again = try test.store.readyChanges(limit: 9, at: test.clock.timestamp)
            #expect(again.map(\.idempotencyKey) == keys && again.allSatisfy { !$0.isTried })
            try await test.drain()
            #expect(test.upstream.batches.map(\.elements.count) == [3, 3])
            #expect(try counts(test).pending == 0)
        }
    }

    // MARK: Refused batches

    @Test(
        "an upstream that does not take the batch gets the changes one by one, is said once, and is asked again later",
        arguments: [
            UpstreamError.gone(status: 404, "POST /batch answered 404"),
            .refused(status: 405, "POST /batch answered 405"),
            .unclear(status: 501, "POST /batch answered 501"), .barred(status: 403, "POST /batch answered 403"),
            .refused(status: 400, "POST /batch answered 400"), .refused(status: 422, "POST /batch answered 422"),
        ])
    func refusedBatch(_ error: UpstreamError) async throws {
        let test = try await TestEngine.editing(10, Self.shop(size: 4))
        let (batches, log) = (BatchRoutes(), LogLines())
        test.upstream.failBatch(error, times: 9)
        try await test.drain(batches: batches, slots: 1, log: log.logger)
        #expect(test.upstream.batches.count < 4 && test.upstream.pushes.count == 10)
        #expect(try counts(test) == PendingCount(pending: 0, failed: 0))
        let said = log.warnings.map(\.metadata).filter { $0["at_a_time"] != nil }
        #expect(said == [["at_a_time": "1", "error": error.message]])
        let now = test.clock.timestamp
        #expect(batches.restriction(at: now) == "changes are sent one by one, because \(error.message)")
        test.upstream.clearBatchFailures()
        for number in 0..<3 { try await test.change("o\(number)", #"{"notes":"again"}"#) }
        try await test.drain(after: BatchRoutes.pause + .seconds(1), batches: batches)
        #expect(test.upstream.batches.last?.elements.count == 3)
        #expect(batches.restriction(at: now + BatchRoutes.pause + .seconds(1)) == nil)
    }

    @Test("an upstream that finds the batch too large gets half of it")
    func tooLarge() async throws {
        let test = try await TestEngine.editing(8, Self.shop(size: 8))
        let batches = BatchRoutes()
        test.upstream.failBatch(.refused(status: 413, "too large"), times: 1)
        try await test.drain(batches: batches, slots: 1)
        #expect(test.upstream.batches.map(\.elements.count) == [8, 4, 4])
        #expect(try counts(test).pending == 0)
        #expect(
            batches.restriction(at: test.clock.timestamp)
                == "at most 4 changes are sent at a time, because too large")
    }

    @Test(
        "one refused element of an atomic batch fails alone; the others are sent by themselves",
        arguments: [true, false])
    func atomic(asWhole: Bool) async throws {
        let test = try await TestEngine.editing(4, Self.shop(more: ", atomic: true"))
        let refusal: @Sendable (PushRequest) -> UpstreamError? = { request in
            request.path == "/orders/o2" ? .refused(status: 422, "too long") : nil
        }
        if asWhole {
            test.upstream.failBatch(.refused(status: 400, "one element failed"))
        } else {
            // The upstream takes all of it back, whatever the other results say.
            test.upstream.undoBatches()
        }
        test.upstream.refuse(refusal)
        let batches = BatchRoutes()
        try await test.drain(batches: batches)
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
        #expect(try counts(test) == PendingCount(pending: 0, failed: 1))
        #expect(test.notes == ["n", "w0", "w1", "w3"])
        #expect(batches.restriction(at: test.clock.timestamp) == nil, "the route itself is open")
    }

    @Test("an atomic batch without a clear result leaves all of its changes unclear")
    func atomicUnclear() async throws {
        let test = try await TestEngine.editing(3, Self.shop(more: ", atomic: true"))
        test.upstream.withholdResults([1])
        test.upstream.failRecords(.unclear(status: nil, "no answer"))
        try await test.drain()
        #expect(try counts(test).pending == 3)
        test.upstream.failRecords(nil)
        try await test.drain(after: .seconds(60))
        #expect(try counts(test).pending == 0)
    }

    @Test("an answer that is a web page leaves every change as it would leave one")
    func webPage() async throws {
        let test = try await TestEngine.editing(3, Self.shop())
        test.upstream.failBatch(.barred(status: 200, "a web page"))
        try await test.drain()
        #expect(try counts(test) == PendingCount(pending: 3, failed: 0))
        try await test.drain(after: .seconds(120))
        #expect(try counts(test).pending == 0)
        #expect(test.upstream.pushes.count == 3)
    }
}
