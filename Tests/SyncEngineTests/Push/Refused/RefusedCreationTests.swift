import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A creation that the upstream does not let through")
struct RefusedCreationTests {
    private static let withoutKeys = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
    private static let withLookUp = withoutKeys.replacing(
        "create: { call: POST /orders }", with: "create: { call: POST /orders, look_up: { match: [notes] } }")
    private let lost = UpstreamError.unclear(status: nil, "no answer")

    private func test(_ yaml: String = RefusedCreationTests.withoutKeys) async throws -> TestEngine {
        let test = try await TestEngine.with(yaml)
        _ = try await test.create()
        return test
    }

    private func send(_ test: TestEngine) async throws {
        try await test.send()
        test.clock.advance(by: .seconds(70))
    }

    @Test(
        "is sent again without a look-up, because nothing of it was applied",
        arguments: [
            UpstreamError.throttled(.seconds(1), "slow down"), .unauthorized("expired"),
            .barred(status: 402, "pay"), .barred(status: 403, "not yet"), .barred(status: 307, "moved"),
            .gone(status: 404, "no such route"), .locked(status: 423, "locked"),
        ])
    func refused(_ error: UpstreamError) async throws {
        let test = try await test()
        test.upstream.fail(error)
        try await send(test)
        #expect(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first?.isTried == false)
        try await send(test)
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test("waits while what it is about is locked, and fails after the last attempt")
    func locked() async throws {
        let test = try await test()
        test.upstream.fail(.locked(status: 423, "locked"), times: 3)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.error() == "refused")
        for _ in 1...2 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.count == 3)
    }

    @Test(
        "is tried again while an older change takes one of its values from another record",
        arguments: [Operation.delete, .update],
        [UpstreamError.refused(status: 422, "taken"), .changed(status: 409, "taken")])
    func freedValue(_ operation: Operation, _ error: UpstreamError) async throws {
        let creation = "create: { call: POST /orders }"
        let test = try await TestEngine.with(
            TestEngine.shop.replacing(
                creation, with: #"\#(creation)\#n      delete: { call: "DELETE /orders/{id}" }"#))
        if operation == .delete {
            try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        } else {
            try await test.change("a", #"{"notes":"other"}"#)
        }
        _ = try await test.create(#"{"notes":"n"}"#)
        test.upstream.fail(.unclear(status: 500, "oops"))
        test.upstream.fail(error)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 2, failed: 0))
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("may have arrived if it is locked after an answer that was lost, so it counts as no refused one")
    func lockedAfterLost() async throws {
        let test = try await test(TestEngine.shop)
        test.upstream.fail(lost, afterApplying: true)
        test.upstream.fail(.locked(status: 423, "locked"), times: 2)
        for _ in 1...3 { try await send(test) }
        #expect(test.upstream.pushes.count == 3)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "server")
    }

    @Test("is left to a person if the answer may come from one that was applied", arguments: [200, 302, 303, 408, 503])
    func unclear(_ status: Int) async throws {
        let test = try await test()
        test.upstream.fail(.barred(status: status, "a page"), afterApplying: true)
        try await send(test)
        try await send(test)
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.error() == "unclear")
    }

    @Test(
        "is looked up after a page in place of an error, because a gateway may put it there",
        arguments: [403, 400, 307])
    func replacedAnswer(_ status: Int) async throws {
        let test = try await test(Self.withLookUp)
        test.upstream.fail(.barred(status: status, "a page", isPage: true), afterApplying: true, times: 5)
        for _ in 1...5 { try await send(test) }
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test(
        "is sent again after such a page if the look-up does not find it, or cannot be made", arguments: [true, false])
    func pageBeforeIt(hasLookUp: Bool) async throws {
        let test = try await test(hasLookUp ? Self.withLookUp : Self.withoutKeys)
        test.upstream.fail(.barred(status: 403, "a page", isPage: true))
        for _ in 1...3 { try await send(test) }
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test("may have arrived after such a page if the upstream knows it by its key, and keeps that key")
    func keyedPage() async throws {
        let test = try await test(TestEngine.shop)
        test.upstream.fail(.barred(status: 403, "a page", isPage: true), afterApplying: true, times: 2)
        for _ in 1...2 { try await send(test) }
        #expect(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first?.isTried == true)
        try await send(test)
        #expect(test.upstream.pushes.count == 3 && Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test("is looked up if a cache may have answered for an upstream that applied it")
    func unclearBehindCache() async throws {
        let test = try await test(Self.withLookUp)
        test.upstream.fail(.barred(status: 503, "backend fetch failed"), afterApplying: true)
        for _ in 1...3 { try await send(test) }
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test("fails when it is answered 404 again while the upstream is well")
    func gone() async throws {
        let test = try await test()
        test.upstream.fail(.gone(status: 404, "no such route"), times: 2)
        try await send(test)
        try await send(test)
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.error() == "gone")
    }

    /// A message whose order was sent a moment ago, of which the upstream knows nothing at the next attempts.
    private func belowNewOrder(unknown times: Int) async throws -> (TestEngine, order: String) {
        let test = try await test()
        try await test.send()
        let order = try #require(test.upstream.records("/orders").compactMap { $0["id"]?.string }.first { $0 != "a" })
        _ = try await test.store.create(
            "messages", body: .object(["order_id": .string(order)]), at: test.clock.timestamp)
        test.upstream.fail(.gone(status: 404, "no such order"), times: times)
        return (test, order)
    }

    @Test("waits while the upstream may not know the new record that it belongs to")
    func belowNewRecord() async throws {
        let (test, order) = try await belowNewOrder(unknown: 3)
        for _ in 1...3 {
            try await test.send()
            #expect(try test.error() == "unseen")
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
            test.clock.advance(by: .seconds(15))
        }
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders/\(order)/messages").count == 1)
    }

    @Test("fails if the upstream does not know that record when it has had the time to settle")
    func belowMissingRecord() async throws {
        let (test, _) = try await belowNewOrder(unknown: 3)
        for _ in 1...3 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.count == 4)
    }

    @Test(
        "is sent by a user's retry after it was refused for good",
        arguments: [UpstreamError.refused(status: 422, "no"), .changed(status: 409, "this name is taken")])
    func retried(_ error: UpstreamError) async throws {
        let test = try await test()
        test.upstream.fail(error)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try await test.store.retry(nil, at: test.clock.timestamp) == 1)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
        // Under the old key some upstreams repeat the refusal.
        #expect(Set(test.upstream.pushes.map(\.key)).count == 2)
    }

    @Test("keeps its key at a user's retry if it may have been made before it was refused")
    func retriedAfterLostAnswer() async throws {
        let test = try await test(TestEngine.shop)
        test.upstream.fail(lost)
        test.upstream.fail(.refused(status: 422, "no"))
        for _ in 1...2 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try await test.store.retry(nil, at: test.clock.timestamp) == 1)
        try await send(test)
        #expect(test.upstream.pushes.count == 3 && Set(test.upstream.pushes.map(\.key)).count == 1)
    }

    @Test("stays unclear if an earlier attempt was")
    func unclearBefore() async throws {
        let test = try await test(TestEngine.shop)
        test.upstream.fail(lost, afterApplying: true)
        test.upstream.fail(.throttled(.seconds(1), "slow down"), times: 2)
        for _ in 1...3 { try await send(test) }
        #expect(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first?.tried == 1)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
    }

    @Test("gets another key when it is corrected, since the upstream may remember its refusal")
    func corrected() async throws {
        let test = try await test(TestEngine.shop)
        test.upstream.fail(.barred(status: 402, "pay"))
        try await send(test)
        let change = try #require(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first)
        try await test.store.correct(
            change.id, setting: .object(["notes": "newer"]), removing: [], at: test.clock.timestamp)
        try await send(test)
        #expect(test.upstream.records("/orders").last?["notes"] == "newer")
        #expect(Set(test.upstream.pushes.map(\.key)).count == 2)
    }
}
