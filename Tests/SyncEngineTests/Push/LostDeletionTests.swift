import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A deletion whose answer was lost")
struct LostDeletionTests {
    private static let yaml = TestEngine.shop
        .replacing("  idempotency_header: Idempotency-Key\n", with: "")
        .replacing("create: { call: POST /orders }", with: #"delete: { call: "DELETE /orders/{id}" }"#)
    private static let two = #"{"id":"a","notes":"n","updated_at":"2026-11-21T10:00:00Z"},{"id":"b","notes":"n"}"#

    /// Order "a" was deleted, and the answer was lost.
    private func test(_ yaml: String = LostDeletionTests.yaml, arrives: Bool = true) async throws -> TestEngine {
        let test = try await TestEngine.with(orders: "[\(Self.two)]", yaml)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: 504, "no answer"), afterApplying: arrives)
        try await test.send()
        return test
    }

    @Test("is done when the record is gone, and repeated when it is as it was", arguments: [true, false])
    func readFirst(_ arrives: Bool) async throws {
        let test = try await test(arrives: arrives)
        try await test.send(after: .seconds(9))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == (arrives ? 1 : 2))
        #expect(test.upstream.records("/orders").map { $0["id"] } == ["b"])
        #expect(try test.record("a") == nil)
    }

    @Test("does not delete another record that has got the key since")
    func reused() async throws {
        let test = try await test()
        let new = #"{"id":"a","notes":"theirs","updated_at":"2100-01-01T00:00:00Z"}"#
        try test.upstream.set("/orders", #"[\#(new),{"id":"b","notes":"n"}]"#)
        try await test.send(after: .seconds(9))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record("a")?["notes"] == "theirs")
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        let conflict = try #require(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["winner"] == "server")
    }

    @Test("nor where the upstream knows its key, once it is no longer fresh")
    func reusedBesideKey() async throws {
        let yaml = TestEngine.shop
            .replacing("create: { call: POST /orders }", with: #"delete: { call: "DELETE /orders/{id}" }"#)
        let test = try await test(yaml, arrives: false)
        let new = #"{"id":"a","notes":"theirs","updated_at":"2100-01-01T00:00:00Z"}"#
        try test.upstream.set("/orders", #"[\#(new),{"id":"b","notes":"n"}]"#)
        try await test.send(after: .seconds(90))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record("a")?["notes"] == "theirs")
    }

    @Test("waits for a person where conflicts do, and is repeated where the local side wins")
    func policies() async throws {
        for (policy, pushes) in [("manual", 1), ("local_wins", 2)] {
            let yaml = Self.yaml.replacing("  orders:\n", with: "  orders:\n    conflict: \(policy)\n")
            let test = try await test(yaml)
            try test.upstream.set("/orders", #"[{"id":"a","notes":"theirs"},{"id":"b","notes":"n"}]"#)
            try await test.send(after: .seconds(9))
            #expect(test.upstream.pushes.count == pushes)
        }
    }

    @Test("is repeated as it is where the upstream serves no single records")
    func unreadable() async throws {
        let test = try await test(Self.yaml.replacing("path: /orders\n", with: "path: /orders\n      record: none\n"))
        test.upstream.refuse { _ in .gone(status: 404, "no such record") }
        try await test.send(after: .seconds(9))
        #expect(test.upstream.pushes.count == 2)
    }

    @Test("is read again later while the record cannot be read")
    func unclearReading() async throws {
        let test = try await test()
        test.upstream.failRecords(.unclear(status: 500, "down"))
        try await test.send(after: .seconds(9))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["retry_count"] == 1)
    }
}
