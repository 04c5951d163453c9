import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A change that is refused after an answer was lost")
struct RefusedRepeatTests {
    private static let deletion = TestEngine.shop.replacing(
        "create: { call: POST /orders }", with: #"delete: { call: "DELETE /orders/{id}" }"#)
    private static let creationAndDeletion = TestEngine.shop.replacing(
        #"update: { call: "PATCH /orders/{id}" }"#, with: #"delete: { call: "DELETE /orders/{id}" }"#)
    private static let two = #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#
    private let lost = UpstreamError.unclear(status: nil, "no answer")

    private func test(_ yaml: String) async throws -> TestEngine { try await .with(orders: Self.two, yaml) }

    private func send(_ test: TestEngine, times: Int) async throws {
        for _ in 1...times {
            test.clock.advance(by: .seconds(12))
            try await test.send()
        }
    }

    private func error(_ test: TestEngine) throws -> String? {
        try test.store.pending(PendingQuery(limit: 1)).changes.first?.at(path: "error.class")?.string
    }

    /// A creation that arrived, without its answer. From now on the upstream says that its name is taken.
    private func creation(_ yaml: String, arrives: Bool = true) async throws -> TestEngine {
        let test = try await test(yaml)
        _ = try await test.create()
        test.upstream.fail(lost, afterApplying: arrives)
        try await send(test, times: 1)
        test.upstream.refuse { _ in .refused(status: 422, "these notes are taken") }
        return test
    }

    @Test("a creation that a list shows too late is found, and not taken for a refused one")
    func lateList() async throws {
        let test = try await creation(TestEngine.shopWithLookUp)
        let late = JSONText.array(test.upstream.records("/orders")).text
        try test.upstream.set("/orders", Self.two)
        try await send(test, times: 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        try test.upstream.set("/orders", late)
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("server-1")?["notes"] == "new")
    }

    @Test("a creation that no look-up finds is refused when the time to settle is over")
    func absent() async throws {
        let test = try await creation(TestEngine.shopWithLookUp, arrives: false)
        try await send(test, times: 20)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try error(test) == "refused")
    }

    @Test("a creation that cannot be looked up is left to a person, with the upstream's words")
    func unknowable() async throws {
        let test = try await creation(TestEngine.shop)
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try error(test) == "unclear")
        let message = try test.store.pending(PendingQuery(limit: 1)).changes.first?.at(path: "error.message")?.string
        #expect(message?.contains("these notes are taken") == true)
    }

    @Test("so is one that is answered that a limit is reached, while other changes get through")
    func limit() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", Self.two)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(lost, afterApplying: true)
            test.upstream.refuse { [upstream = test.upstream] request in
                request.method == "POST" && upstream.pushes.count > 1 ? .barred(status: 403, "limit reached") : nil
            }
            _ = try await test.create()
            test.engine.noteLocalWrite()
            try await test.until { test.upstream.pushes.count >= 1 }
            for round in 1...20 where try test.store.pendingCount().failed == 0 {
                try await test.change("a", #"{"notes":"\#(round)"}"#)
                test.engine.noteLocalWrite()
                try await test.until(step: .seconds(1)) { try test.store.pendingCount().pending <= 1 }
                let time = test.clock.timestamp + .seconds(60)
                try await test.until(step: .seconds(1)) { test.clock.timestamp >= time }
            }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
            #expect(try error(test) == "unclear")
        }
    }

    @Test("an edit that the record shows is done, and any other is refused", arguments: [true, false])
    func edit(_ arrives: Bool) async throws {
        let test = try await test(TestEngine.shop)
        try await test.change("a", #"{"notes":"closed"}"#)
        test.upstream.fail(lost, afterApplying: arrives)
        try await send(test, times: 1)
        test.upstream.refuse { _ in .refused(status: 422, "closed already") }
        // Until the time to settle is over, what the server shows may be behind.
        try await send(test, times: arrives ? 1 : 6)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: arrives ? 0 : 1))
        #expect(try error(test) == (arrives ? nil : "refused"))
    }

    @Test("a deletion of what the account may neither delete nor read is refused, and holds up no other change")
    func forbidden() async throws {
        let test = try await test(Self.deletion)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.refuse { _ in .refused(status: 400, "not yours") }
        test.upstream.failRecords(.barred(status: 403, "not yours"))
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
    }

    @Test("a refused deletion is done if the record is gone, and fails if it is there", arguments: [true, false])
    func deletion(_ isGone: Bool) async throws {
        let test = try await test(Self.deletion)
        if isGone { try test.upstream.set("/orders", #"[{"id":"b","notes":"n"}]"#) }
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.refuse { _ in .refused(status: 400, "already deleted") }
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: isGone ? 0 : 1))
        #expect((try test.store.remote(of: "orders", key: "a") == nil) == isGone)
    }

    @Test(
        "a deletion that is refused after a lost answer fails only once the upstream has settled",
        arguments: [true, false])
    func lostDeletion(_ arrives: Bool) async throws {
        let test = try await test(Self.deletion)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.fail(lost)
        try await send(test, times: 1)
        test.upstream.refuse { _ in .refused(status: 400, "no such order") }
        // The upstream is behind: it still shows the record.
        try await send(test, times: 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        if arrives { try test.upstream.set("/orders", #"[{"id":"b","notes":"n"}]"#) }
        try await send(test, times: arrives ? 1 : 6)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: arrives ? 0 : 1))
        #expect((try test.store.remote(of: "orders", key: "a") == nil) == arrives)
    }

    @Test("a refused deletion of a record that was just created waits while that may settle, and is then done")
    func deletionOfNew() async throws {
        let test = try await test(Self.creationAndDeletion)
        _ = try await test.create()
        try await send(test, times: 1)
        try await test.store.delete("orders", key: "server-1", at: test.clock.timestamp)
        test.upstream.fail(lost, afterApplying: true)
        try await send(test, times: 1)
        test.upstream.refuse { _ in .refused(status: 400, "no such order") }
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try error(test) == "unseen")
        try await send(test, times: 6)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.store.remote(of: "orders", key: "server-1") == nil)
    }
}
