import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What others do to the upstream's records between an attempt whose answer was lost and the next one.
@Suite("Changes whose answer was lost, while others change the upstream")
struct LostAnswerTests {
    private func test(_ yaml: String = TestEngine.shop, keepsKeys: Bool = false) async throws -> TestEngine {
        let test = try await TestEngine.with(yaml)
        if keepsKeys { test.upstream.keepKeys() }
        return test
    }

    @Test("a creation whose answer was lost does not wait for a choice about another record that the upstream deleted")
    func lookUpBesideChoice() async throws {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing("call: POST /orders }", with: "call: POST /orders, look_up: key }")
            .replacing("  orders:\n", with: "  orders:\n    conflict: manual\n")
        let test = try await test(yaml, keepsKeys: true)
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", #"{"notes":"edited"}"#)
        try test.upstream.set("/orders", "[]")
        _ = try await test.store.delete(["a"], of: "orders", position: test.store.position(), at: test.clock.timestamp)
        _ = try await test.store.create(
            "orders", body: .object(["id": "b", "notes": "new"]), at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        test.clock.advance(by: .seconds(61))
        try await test.send()
        #expect(test.upstream.records("/orders").map { $0["id"] } == ["b"])
    }

    @Test("a lost creation is looked up by the values that it sent, not by those of a later edit")
    func lookUpBesideEdit() async throws {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing(
                "call: POST /orders }",
                with: #"call: POST /orders, look_up: { match: [notes], path: "/orders?notes={notes}" } }"#)
        let test = try await test(yaml)
        let key = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        let made = test.upstream.records("/orders").filter { $0["notes"] == "new" }
        try test.upstream.set("/orders?notes=new", JSONText.array(made).text)
        try await test.change(key, #"{"notes":"edited"}"#)
        for _ in 1...3 {
            test.clock.advance(by: .seconds(61))
            try await test.send()
        }
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "edited"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    /// A creation whose answer was lost, and whose record a pull has brought and an edit here has changed since.
    private func editedTwin(_ members: String) async throws -> (TestEngine, key: String) {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing("call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")
            .replacing("notes: { type: string }", with: "notes: { type: string }\n      place: { type: string }")
        let test = try await test(yaml)
        let now = test.clock.timestamp
        let key = try await test.store.create("orders", body: .object(["notes": "new"]), at: now)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        let made = test.upstream.records("/orders").compactMap { $0["id"]?.string }.filter { $0 != "a" }
        let twin = try #require(made.first)
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"\#(twin)","notes":"new"}]"#), at: now)
        try await test.change(twin, "{\(members)}")
        let edit = try #require(try test.store.readyChanges(limit: 9, at: now).first { $0.operation == .update })
        #expect(try await test.store.begin(edit, at: now))
        let edited = try JSONText(parsing: #"{"id":"\#(twin)","notes":"new"}"#).setting(edit.body)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},\#(edited.text)]"#)
        try await test.store.finish(edit.id, .acknowledged(record: edited), at: now)
        for _ in 1...3 {
            test.clock.advance(by: .seconds(61))
            try await test.send()
        }
        return (test, key)
    }

    @Test("a lost creation's record that was edited here, as a pull brought it, is found and not made again")
    func foundTwin() async throws {
        let (test, key) = try await editedTwin(#""place":"shelf""#)
        #expect(test.upstream.records("/orders").map { $0["place"] } == [nil, "shelf"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key)?["place"] == "shelf")
    }

    @Test("nor is it made again if the edit changed what the look-up compares: a person decides")
    func changedTwin() async throws {
        let (test, _) = try await editedTwin(#""notes":"edited""#)
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "edited"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error("message")?.contains("was edited here") == true)
    }

    @Test("a creation is looked for less and less often while its list keeps changing")
    func restlessList() async throws {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing("call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")
        let test = try await test(yaml)
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        let readings = Counter()
        test.upstream.onPage { [upstream = test.upstream] in
            try? upstream.set("/orders", #"[{"id":"a","notes":"\#(readings.next())"}]"#)
        }
        test.clock.advance(by: .seconds(60))
        var waits: [Duration] = []
        for _ in 1...8 {
            try await test.send(random: 0.5)
            let wait = try #require(try test.store.nextAttempt()).since(test.clock.timestamp)
            waits.append(wait)
            test.clock.advance(by: wait)
        }
        #expect(waits.first == .seconds(10) && waits.last == .seconds(128))
        #expect(test.upstream.pushes.count == 1 && readings.count == 8 * 4)
    }

    @Test("a creation whose record was pulled and then deleted here does not come back from a list that is behind")
    func pulledAndDeleted() async throws {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing(
                "call: POST /orders }",
                with: """
                    call: POST /orders, look_up: { match: [notes] } }
                          delete: { call: "DELETE /orders/{id}" }
                    """)
        let test = try await test(yaml)
        let local = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        let list = JSONText.array(test.upstream.records("/orders")).text
        _ = try await test.store.apply(PulledPage(entity: "orders", records: list), at: test.clock.timestamp)
        try await test.store.delete("orders", key: "server-1", at: test.clock.timestamp)
        test.upstream.failList("/orders", .unclear(status: nil, "no answer"))
        try await test.send()
        #expect(test.upstream.records("/orders").map { $0["id"] } == ["a"])
        try test.upstream.set("/orders", list)
        test.upstream.failList("/orders", nil)
        try await test.send(after: .seconds(30))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("server-1") == nil)
        #expect(try test.record(local) == nil)
        #expect(test.upstream.pushes.map(\.request.method) == ["POST", "DELETE"])
    }

    /// Without idempotency keys, so that a lost message is looked up in the list below its order.
    private var messagesLookedUp: String {
        let reference = "order_id: { type: reference, to: orders, required: true }"
        let path = "/orders/{order_id}/messages"
        return TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing(reference, with: "\(reference)\n      text: { type: string }")
            .replacing(#""POST \#(path)""#, with: #""POST \#(path)", look_up: { match: [text], path: "\#(path)" }"#)
    }

    @Test("a creation below a record that was deleted upstream and here is sent again, and then refused")
    func belowDeleted() async throws {
        let test = try await test(messagesLookedUp)
        try test.upstream.set("/orders", #"[{"id":"b","notes":"n"}]"#)
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"b","notes":"n"}]"#), at: test.clock.timestamp)
        _ = try await test.store.create(
            "messages", body: .object(["order_id": "a", "text": "new"]), at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        _ = try await test.store.delete(["a"], of: "orders", position: test.store.position(), at: test.clock.timestamp)
        test.upstream.failList("/orders/a/messages", .gone(status: 404, "no such list"))
        test.upstream.fail(.gone(status: 404, "no such order"))
        test.clock.advance(by: .seconds(61))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.count == 2)
    }

    @Test(
        "a lost creation whose look-up is answered 404 is left to a person if its order is listed and none was served",
        arguments: [false, true])
    func belowListed(_ wasServed: Bool) async throws {
        let test = try await test(messagesLookedUp)
        if wasServed { try await test.store.setSetting("single:orders", to: "served") }
        test.upstream.hideRecords(true)
        test.upstream.failList("/orders/a/messages", .gone(status: 404, "no such path"))
        _ = try await test.store.create(
            "messages", body: .object(["order_id": "a", "text": "new"]), at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        test.clock.advance(by: .seconds(61))
        try await test.send()
        // Where orders were served before, the look-up may be answered so only for a while.
        #expect(try test.store.pendingCount() == PendingCount(pending: wasServed ? 1 : 0, failed: wasServed ? 0 : 1))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("an edit that someone undid before its answer arrived does not come back")
    func undoneEdit() async throws {
        let test = try await test()
        let version = #"{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:01Z"}"#
        let page = PulledPage(entity: "orders", records: "[\(version)]")
        _ = try await test.store.apply(page, at: test.clock.timestamp)
        try test.upstream.set("/orders", "[\(version.replacing("01Z", with: "02Z"))]")
        try await test.change("a", #"{"notes":"edited"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try test.upstream.set("/orders", "[\(version.replacing("01Z", with: "03Z"))]")
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(try test.record("a")?["notes"] == "n")
    }
}
