import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Changes that are answered with nothing by something in front of the upstream, which answers the lists so too.
@Suite("A change that nothing answers, while the upstream shows no records")
struct SilenceTests {
    private static let orders = #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#
    private static let withoutKeys = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")

    /// An engine whose upstream answers so.
    private func silent(_ yaml: String = TestEngine.shop) async throws -> TestEngine {
        let test = try await TestEngine.with(orders: Self.orders, yaml)
        let upstream = test.upstream
        upstream.setMute(true)
        upstream.onRecord { try? upstream.set("/orders", "[]") }
        upstream.onPage { try? upstream.set("/orders", "[]") }
        return test
    }

    private func recover(_ test: TestEngine) throws {
        test.upstream.setMute(false)
        test.upstream.onRecord {}
        test.upstream.onPage {}
        try test.upstream.set("/orders", Self.orders)
    }

    @Test("an edit waits without using up its attempts, and is sent again")
    func edit() async throws {
        let test = try await silent()
        try await test.change("a", #"{"notes":"mine"}"#)
        for minutes in 0...9 {
            try await test.send(after: .seconds(600 * minutes))
            #expect(try test.error() == "barred")
            #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["retry_count"] == 0)
        }
        try recover(test)
        try await test.send(after: .seconds(7200))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
        #expect(try test.record("a")?["notes"] == "mine")
    }

    @Test("a creation does not count as accepted: it is looked up, and sent again")
    func creation() async throws {
        let test = try await silent(TestEngine.shopWithLookUp)
        let key = try await test.create()
        try await test.send()
        #expect(try test.error() == "barred")
        try recover(test)
        for minutes in 1...3 { try await test.send(after: .seconds(600 * minutes)) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.record(key)?["id"]?.string?.hasPrefix("server-") == true)
    }

    @Test("a creation that cannot be looked up is left to a person, and not dropped")
    func creationWithoutLookUp() async throws {
        let test = try await silent(Self.withoutKeys)
        _ = try await test.create()
        try await test.send()
        #expect(try test.error() == "barred")
        try recover(test)
        try await test.send(after: .seconds(600))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("an edit does not count as accepted while another record is read in place of its own, and no list")
    func sameForEdit() async throws {
        let test = try await TestEngine.with(orders: Self.orders)
        test.upstream.setMute(true)
        test.upstream.answerRecords(with: "b")
        test.upstream.failList("/orders", .malformed("no list at data"))
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        #expect(try test.error() == "malformed")
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
    }

    @Test("a creation does not count as accepted while every request is answered with the same record, and no list")
    func sameForCreation() async throws {
        let test = try await TestEngine.with(orders: Self.orders)
        try test.upstream.answer(#"{"id":"b"}"#, times: 99, applying: false)
        test.upstream.answerRecords(with: "b")
        test.upstream.failList("/orders", .malformed("no list at data"))
        let key = try await test.create()
        for minutes in 0...20 { try await test.send(after: .seconds(600 * minutes)) }
        #expect(try test.error() == "malformed")
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.record(key)?["notes"] == "new")
    }

    @Test(
        "the first creation of an entity waits while another list, which had records, shows none",
        arguments: [true, false])
    func firstCreation(isSilent: Bool) async throws {
        let test = try TestEngine(schema: Self.withoutKeys)
        let parts = #"[{"id":"p"}]"#
        try test.upstream.set("/parts", isSilent ? "[]" : parts)
        _ = try await test.store.apply(PulledPage(entity: "parts", records: parts), at: test.clock.timestamp)
        test.upstream.onPage { [upstream = test.upstream] in try? upstream.set("/orders", "[]") }
        test.upstream.answerEmpty(times: 1)
        _ = try await test.create()
        try await test.send()
        #expect(try test.error() == (isSilent ? "barred" : nil))
        #expect(try test.store.pendingCount().pending == (isSilent ? 1 : 0))
    }

    @Test("the first creation of an entity counts if its list shows it, though another list shows nothing any more")
    func shownCreation() async throws {
        let test = try TestEngine(schema: Self.withoutKeys)
        _ = try await test.store.apply(PulledPage(entity: "parts", records: #"[{"id":"p"}]"#), at: test.clock.timestamp)
        try test.upstream.set("/parts", "[]")
        test.upstream.answerEmpty(times: 1)
        _ = try await test.create()
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a creation counts while the others are served by their keys, though the list leaves them out, as drafts")
    func unlistedCreation() async throws {
        let test = try await TestEngine.with(orders: Self.orders, Self.withoutKeys)
        try await test.store.setSetting("single:orders", to: "served")
        let upstream = test.upstream
        upstream.onPage { try? upstream.set("/orders", "[]") }
        upstream.onRecord { try? upstream.set("/orders", Self.orders) }
        upstream.answerEmpty(times: 1)
        _ = try await test.create()
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test(
        "an edit that takes the only record from its list counts while another list shows records",
        arguments: [true, false])
    func onlyRecord(isShown: Bool) async throws {
        let test = try await TestEngine.with(orders: #"[{"id":"a","notes":"n"}]"#)
        let parts = #"[{"id":"p"}]"#
        try test.upstream.set("/parts", isShown ? parts : "[]")
        _ = try await test.store.apply(PulledPage(entity: "parts", records: parts), at: test.clock.timestamp)
        let upstream = test.upstream
        upstream.onRecord { try? upstream.set("/orders", "[]") }
        upstream.onPage { try? upstream.set("/orders", "[]") }
        upstream.answerEmpty(times: 1)
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        #expect(try test.error() == (isShown ? nil : "barred"))
        #expect(try test.store.pendingCount().pending == (isShown ? 0 : 1))
    }
}
