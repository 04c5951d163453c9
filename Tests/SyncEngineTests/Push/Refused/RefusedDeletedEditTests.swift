import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An edit that is refused because the record was deleted")
struct RefusedDeletedEditTests {
    /// Order "a" was edited here, after it was archived upstream; archived orders cannot be edited.
    private func test(
        _ policy: String = "last_write_wins", mark: String = "\n      deleted: archived", archived: Bool = true,
        isGone: Bool = false, isServed: Bool = true
    ) async throws -> TestEngine {
        let yaml = TestEngine.shop
            .replacing("path: /orders\n", with: "path: /orders\(mark)\n")
            .replacing("  orders:\n", with: "  orders:\n    conflict: \(policy)\n")
        let test = try TestEngine(schema: yaml)
        let known = #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: known), at: test.clock.timestamp)
        let order = isGone ? "" : "{\"id\":\"a\",\"notes\":\"n\",\"archived\":\(archived)},"
        try test.upstream.set("/orders", "[\(order){\"id\":\"b\",\"notes\":\"n\"}]")
        if isServed { try await test.store.setSetting("single:orders", to: "served") }
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.refuse { _ in .refused(status: 400, "archived: restore it first") }
        try await test.send()
        return test
    }

    @Test("is a conflict that the deletion wins, and does not fail")
    func deletionWins() async throws {
        let test = try await test()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a") == nil)
        let conflict = try #require(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["winner"] == "server")
    }

    @Test("waits for a person where conflicts do")
    func manual() async throws {
        let test = try await test("manual")
        #expect(try test.store.pendingCount().pending == 1)
        #expect(try test.record("a")?["notes"] == "mine")
    }

    @Test(
        "is one, too, if the record is gone, once the upstream was seen to serve single records",
        arguments: [true, false])
    func gone(isServed: Bool) async throws {
        let test = try await test(isGone: true, isServed: isServed)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: isServed ? 0 : 1))
        #expect(try (test.record("a") == nil) == isServed)
    }

    @Test("waits uncounted while the upstream shows no records at all, and is sent once it shows them again")
    func emptied() async throws {
        let orders = #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#
        let test = try await TestEngine.with(orders: orders)
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", "[]")
        test.upstream.refuse { _ in .refused(status: 400, "Invalid row id a") }
        for delay in [600, 1200, 1800] { try await test.send(after: .seconds(delay)) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.error() == "barred")
        try test.upstream.set("/orders", orders)
        test.upstream.refuse(nil)
        try await test.send(after: .seconds(2400))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("fails if the record has no mark, or the schema knows none")
    func refused() async throws {
        for test in [try await test(archived: false), try await test(mark: "")] {
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
            #expect(try test.error() == "refused")
            #expect(try test.error("message")?.contains("restore it first") == true)
        }
    }
}
