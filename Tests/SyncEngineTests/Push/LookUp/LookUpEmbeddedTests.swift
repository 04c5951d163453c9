import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Looking up a lost creation in a list that its parent shows")
struct LookUpEmbeddedTests {
    /// The finding for a creation with the notes "new", sent this many seconds ago, when the list shows these notes.
    private func finding(_ shown: [String], seconds: Int) async throws -> CreateReconciler.Finding {
        let test = try TestPull(
            create: "call: POST /orders, look_up: { match: [notes], path: /client, embedded: orders }")
        let now = test.clock.timestamp
        _ = try await test.store.create("orders", body: .object(["notes": "new"]), at: now)
        var change = try #require(try test.store.readyChanges(limit: 1, at: now).first)
        change.lastAttemptAt = now - .seconds(seconds)
        let list = JSONText.array(
            shown.enumerated().map { .object(["id": .string("o\($0.offset)"), "notes": .string($0.element)]) })
        test.upstream.answering { _ in .success(Page(records: list, count: list.elements.count, next: nil)) }
        let orders = try #require(test.schema["orders"])
        let reader = RecordReader(schema: test.schema, store: test.store, upstream: test.upstream)
        return try await CreateReconciler(reader: reader, now: now, clockOffset: .zero, monotonicNow: { now })
            .finding(for: change, orders)
    }

    private let ten = (1...10).map { "old \($0)" }

    @Test("one of as many records as a page usually has is looked at again until the time to settle is over")
    func early() async throws {
        let finding = try await finding(ten, seconds: 10)
        guard case .notYet = finding else { return #expect(Bool(false), "\(finding)") }
    }

    @Test("it is then left to a person, because the list may be cut")
    func late() async throws {
        let finding = try await finding(ten, seconds: 61)
        guard case .unknowable(let reason) = finding else { return #expect(Bool(false), "\(finding)") }
        #expect(reason.contains("ends at exactly 10 records"))
    }

    @Test("the record counts as soon as the list shows it", arguments: [10, 61])
    func shown(_ seconds: Int) async throws {
        let finding = try await finding(ten + ["new"], seconds: seconds)
        guard case .applied(let found) = finding else { return #expect(Bool(false), "\(finding)") }
        #expect(found.record["id"] == "o10")
    }
}
