import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Reading a record that did not settle")
struct SettlingReaderTests {
    /// The newer record moves the watermark, so that no later pull lists the other one.
    private func list(_ notes: String) -> String {
        """
        [{"id":"a","notes":"\(notes)","updated_at":"2026-01-01T00:00:00Z"},
         {"id":"b","notes":"n","updated_at":"2026-06-01T00:00:00Z"}]
        """
    }

    @Test("#7 a change that the upstream never shows is asked for once when the time is over")
    func reads() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", list("n"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.answerEmpty(times: 1)
            test.upstream.failRecords(.malformed("no"))
            try await test.engine.sync(SyncRequest())
            test.upstream.failRecords(nil)
            #expect(try test.store.pendingCount().pending == 0)
            try test.upstream.set("/orders", list("theirs"))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["notes"] == "mine", "no list shows it")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["notes"] == "theirs")
            #expect(try await test.store.unconfirmed(limit: 9, at: test.clock.timestamp + .seconds(90)).isEmpty)
        }
    }

    @Test("a change that only a whole list can show is shown by one, an hour after the last")
    func onlyInList() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", list("n"))
        test.upstream.failRecords(.refused(status: 405, "no single records"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for key in ["a", "b"] { try await test.change(key, #"{"notes":"mine"}"#) }
            test.upstream.answerEmpty(times: 2)
            try await test.engine.sync(SyncRequest())
            try await test.until { try test.store.pendingCount().pending == 0 }
            try test.upstream.set("/orders", list("theirs"))
            test.clock.advance(by: .seconds(61))
            let reads = test.upstream.recordRequests
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.recordRequests == reads + 1, "the other one of the entity waits with it")
            #expect(try test.record("a")?["notes"] == "mine", "the last whole list was read a minute ago")
            test.clock.advance(by: .seconds(3600))
            for _ in 1...2 { try await test.engine.sync(SyncRequest()) }
            #expect(try test.record("a")?["notes"] == "theirs")
            #expect(try await test.store.unconfirmed(limit: 9, at: test.clock.timestamp).isEmpty)
        }
    }

    @Test("a deleted record that a list still shows returns only if it is served by its key", arguments: [true, false])
    func deletedAndListed(isServed: Bool) async throws {
        let update = #"update: { call: "PATCH /orders/{id}" }"#
        let delete = #"delete: { call: "DELETE /orders/{id}" }"#
        let test = try TestEngine(schema: TestEngine.shop.replacing(update, with: "\(update)\n      \(delete)"))
        try test.upstream.set("/orders", list("n"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.store.delete("orders", key: "b", at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount().pending == 0)
            try test.upstream.set("/orders", list("n"))
            if !isServed { test.upstream.hide("b") }
            for _ in 1...3 {
                test.clock.advance(by: .seconds(301))
                try await test.engine.sync(SyncRequest())
                #expect(try (test.record("b") != nil) == isServed)
            }
        }
    }

    @Test("a child is looked for among its siblings, since its parent's list is not read again")
    func child() async throws {
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "order_id: { type: reference, to: orders, required: true }",
                with: "order_id: { type: reference, to: orders, required: true }\n      text: { type: string }"))
        let messages = "/orders/b/messages"
        func set(_ text: String) throws { try test.upstream.set(messages, #"[{"id":"m","text":"\#(text)"}]"#) }
        try test.upstream.set("/orders", list("n"))
        try set("hello")
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let key = try await test.store.create(
                "messages", body: JSONText(parsing: #"{"order_id":"b","text":" mine "}"#), at: test.clock.timestamp)
            test.upstream.answerEmpty(times: 2)
            try await test.engine.sync(SyncRequest())
            try await test.until { try test.store.pendingCount().pending == 0 }
            let known = try #require(try test.store.remote(of: "messages", key: key))
            let sent = try #require(known["id"])
            try test.upstream.set(messages, #"[{"id":"m"},{"id":"\#(sent.plain)","text":"mine"}]"#)
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record(sent.plain, "messages")?["text"] == "mine")
        }
    }

    @Test("a child that others delete soon after its creation goes, although its parent does not change again")
    func deletedChild() async throws {
        let test = try TestEngine()
        let messages = "/orders/b/messages"
        try test.upstream.set("/orders", list("n"))
        try test.upstream.set(messages, #"[{"id":"m"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            _ = try await test.store.create(
                "messages", body: JSONText(parsing: #"{"order_id":"b"}"#), at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest())
            try await test.until { try test.store.pendingCount().pending == 0 }
            try test.upstream.set(messages, #"[{"id":"m"}]"#)
            try test.upstream.set("/orders", list("n").replacing("2026-06-01", with: "2026-06-02"))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.rowCounts()["messages"] == 2, "the list may be behind")
            for _ in 1...2 {
                test.clock.advance(by: .seconds(61))
                try await test.engine.sync(SyncRequest())
            }
            #expect(try test.store.rowCounts()["messages"] == 1)
        }
    }

    @Test("a record that no request can read keeps what was sent when the time is over, and is not asked for")
    func notServed() async throws {
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "    pull: { path: /parts }",
                with: """
                        pull: { call: POST /parts/_search }
                        push:
                          update: { call: "PATCH /parts/{id}" }
                    """
            ).replacing("  parts:\n    fields:\n", with: "  parts:\n    fields:\n      name: { type: string }\n"))
        for path in ["/parts", "/parts/_search"] { try test.upstream.set(path, #"[{"id":"p"}]"#) }
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.store.update(
                "parts", key: "p", body: JSONText(parsing: #"{"name":"mine"}"#), at: test.clock.timestamp)
            test.upstream.answerEmpty(times: 1)
            try await test.engine.sync(SyncRequest())
            try await test.until { try test.store.pendingCount().pending == 0 }
            let later = test.clock.timestamp + .seconds(61)
            #expect(try await test.store.unconfirmed(limit: 9, at: later).map(\.key) == ["p"])
            let reads = test.upstream.recordRequests
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.recordRequests == reads)
            #expect(try test.record("p", "parts")?["name"] == "mine")
            #expect(try await test.store.unconfirmed(limit: 9, at: later).isEmpty)
        }
    }

    @Test("a creation whose key upstream was never learned is not shown twice for ever")
    func keyNeverLearned() async throws {
        let test = try TestEngine(
            schema: TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: ""))
        try test.upstream.set("/orders", list("n"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            _ = try await test.store.create(
                "orders", body: JSONText(parsing: #"{"notes":"new","updated_at":"2026-07-01T00:00:00Z"}"#),
                at: test.clock.timestamp)
            test.upstream.answerEmpty(times: 1)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.rowCounts()["orders"] == 3)
            #expect(try test.record("server-1")?["notes"] == "new")
        }
    }

    @Test("a creation answered again, whose record was deleted since, goes when the time to settle is over")
    func deletedSince() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", list("n"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let key = try await test.store.create(
                "orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: test.clock.timestamp)
            test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
            await #expect(throws: Never.self) { try await test.engine.sync(SyncRequest()) }
            try test.upstream.set("/orders", list("n"))
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.record(key)?["notes"] == "new", "the upstream may only be behind")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record(key) == nil)
        }
    }

    @Test("a record whose deletion failed goes with it when two readings apart show that it is gone")
    func failedDeletion() async throws {
        let update = #"      update: { call: "PATCH /orders/{id}" }"#
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                update, with: update + "\n" + #"      delete: { call: "DELETE /orders/{id}" }"#))
        try test.upstream.set("/orders", list("n"))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.answerEmpty(times: 1)
            test.upstream.failRecords(.malformed("no"))
            try await test.engine.sync(SyncRequest())
            test.upstream.failRecords(nil)
            try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
            test.upstream.fail(.refused(status: 422, "it has an invoice"))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
            try test.upstream.set("/orders", #"[{"id":"b","notes":"n","updated_at":"2026-06-01T00:00:00Z"}]"#)
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.remote(of: "orders", key: "a") != nil, "one reading proves nothing")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.remote(of: "orders", key: "a") == nil)
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        }
    }

    @Test("a record that an upstream out of its mind does not show stays to be asked for")
    func cannotSay() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.answerEmpty(times: 1)
            test.upstream.failRecords(.malformed("no"))
            test.upstream.failList("/orders", .unclear(status: 500, "no"))
            await #expect(throws: (any Error).self) { try await test.engine.sync(SyncRequest()) }
            try await test.until { try test.store.pendingCount().pending == 0 }
            test.upstream.failRecords(nil)
            test.upstream.failList("/orders", nil)
            try test.upstream.set("/orders", "[]")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["notes"] == "mine")
            #expect(try await test.store.unconfirmed(limit: 9, at: test.clock.timestamp).map(\.key) == ["a"])
        }
    }
}
