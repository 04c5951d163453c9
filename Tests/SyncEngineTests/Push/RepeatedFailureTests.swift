import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of a change when the upstream stores its failure under the idempotency key, as Stripe does for a day.
@Suite("A failure that the upstream repeats for the same key")
struct RepeatedFailureTests {
    private let withLookUp = TestEngine.shop.replacing(
        "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")

    private func test(_ yaml: String = TestEngine.shop) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        test.upstream.storeFailures()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n"}]"#), at: test.clock.timestamp)
        return test
    }

    private func edited(_ test: TestEngine, arrives: Bool) async throws {
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: 500, "broken"), afterApplying: arrives)
        for _ in 1...3 { try await test.send() }
    }

    private func created(_ test: TestEngine, arrives: Bool) async throws {
        _ = try await test.store.create(
            "orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: 500, "broken"), afterApplying: arrives)
        for _ in 1...3 { try await test.send() }
    }

    @Test("an edit goes out under another key, unless the record shows it", arguments: [true, false])
    func edit(arrives: Bool) async throws {
        let test = try await test()
        try await edited(test, arrives: arrives)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
        let keys = test.upstream.pushes.map(\.key)
        #expect(keys.count == (arrives ? 2 : 3) && Set(keys).count == (arrives ? 1 : 2))
    }

    @Test(
        "a creation goes out under another key once a look-up finds no record, and never twice",
        arguments: [true, false])
    func creation(arrives: Bool) async throws {
        let test = try await test(withLookUp)
        try await created(test, arrives: arrives)
        test.clock.advance(by: .seconds(61))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "new"])
        #expect(Set(test.upstream.pushes.map(\.key)).count == (arrives ? 1 : 2))
    }

    @Test("a creation that was refused, as an account is, goes out under another key without a look-up")
    func refusedCreation() async throws {
        let test = try await test()
        _ = try await test.store.create(
            "orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: test.clock.timestamp)
        test.upstream.fail(.barred(status: 403, "not approved yet"))
        for _ in 1...3 {
            try await test.send()
            test.clock.advance(by: .seconds(120))
        }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "new"])
        #expect(test.upstream.pushes.count == 3 && Set(test.upstream.pushes.map(\.key)).count == 2)
    }

    @Test("a creation without a look-up is left to a person, whose retry has another key")
    func unknowable() async throws {
        let test = try await test()
        try await created(test, arrives: false)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "unclear")
        #expect(test.upstream.pushes.count == 2)
        _ = try await test.store.retry(nil, at: test.clock.timestamp)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
    }
}
