import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// How one change is handled for each kind of answer, and when the answer is lost.
@Suite("Sending a change")
struct PusherTests {
    private let withoutKeys = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")

    private func test(_ yaml: String = TestEngine.shop, keepsKeys: Bool = false) async throws -> TestEngine {
        let test = try await TestEngine.with(yaml)
        if keepsKeys { test.upstream.keepKeys() }
        return test
    }

    // MARK: An answer without a record

    @Test("a creation answered without a key is repeated once, then left to the next pull", arguments: [1, 2])
    func emptyAnswer(_ times: Int) async throws {
        let test = try await test()
        let key = try await test.create()
        test.upstream.answerEmpty(times: times)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 1)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
        let given = try #require(test.upstream.records("/orders").last?["id"]?.string)
        #expect(try test.record(given)?["notes"] == (times == 1 ? "new" : nil))
        // What was created is shown in any case.
        #expect(try test.record(key)?["notes"] == "new")
        #expect(test.upstream.records("/orders").count == 2)
    }

    // MARK: The server has another version

    @Test("a change that meets another version is merged with it and retried")
    func changed() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":5}]"#)
        test.upstream.fail(.changed(status: 412, "not this version"))
        try await test.send()
        #expect(try test.record("a")?["total"] == 5)
        #expect(try test.store.pendingCount().pending == 1)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.records("/orders").map(\.text) == [#"{"id":"a","notes":"mine","total":5}"#])
    }

    @Test("a fresh edit of a set is merged with the server's set before it is sent")
    func set() async throws {
        let test = try await test(
            TestEngine.shop.replacing(
                "      notes: { type: string }",
                with: "      notes: { type: string }\n      tags: { type: list, merge: set }"))
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n","tags":["both"]}]"#),
            at: test.clock.timestamp)
        try await test.change("a", #"{"tags":["both","mine"]}"#)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","tags":["both","theirs"]}]"#)
        try await test.send()
        let tags = try #require(test.upstream.records("/orders").first?["tags"]?.elements.map(\.string))
        #expect(Set(tags) == ["both", "mine", "theirs"])
    }

    @Test("a change that keeps meeting other versions fails permanently after the usual attempts")
    func changedForEver() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.changed(status: 409, "no"), times: 9)
        for number in 1...9 {
            try test.upstream.set("/orders", #"[{"id":"a","notes":"theirs \#(number)"}]"#)
            try await test.send()
        }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.count == 3)
        #expect(try test.error() == "conflict")
    }

    @Test("an edit of a deleted record loses to the deletion and can be restored")
    func gone() async throws {
        let test = try await test()
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"other"}]"#), at: test.clock.timestamp)
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", #"[{"id":"other"}]"#)
        try await test.send()
        #expect(try test.record("a") == nil)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        let conflict = try #require(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["winner"] == "server" && conflict.at(path: "local.notes") == "mine")
    }

    @Test("a missing path deletes nothing while the record exists")
    func pathGone() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.gone(status: 404, "no such path"), times: 2)
        for delay in [0, 61] { try await test.send(after: .seconds(delay)) }
        #expect(try test.record("a")?["notes"] == "mine")
        #expect(try test.store.pendingCount().failed == 1)
    }

    @Test("a creation that meets its own record is acknowledged; one that meets another's record fails")
    func exists() async throws {
        for (there, failed) in [("new", 0), ("other", 1)] {
            let test = try await test(keepsKeys: true)
            _ = try await test.create(#"{"id":"b","notes":"new"}"#)
            try test.upstream.set("/orders", #"[{"id":"b","notes":"\#(there)"}]"#)
            test.upstream.fail(.changed(status: 409, "exists"))
            try await test.send()
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: failed))
        }
    }

    @Test(
        "an old answer to a repeat does not revert a later edit")
    func repetition() async throws {
        let test = try await test()
        let key = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"server-1","notes":"theirs"}]"#)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(try test.record(key)?["notes"] == "theirs")
    }

    // MARK: Without idempotency keys

    @Test("a child's edit is looked up with its parent before it is repeated")
    func lostChildUpdate() async throws {
        let yaml = withoutKeys.replacing(
            #"call: "POST /orders/{order_id}/messages" }"#,
            with: #"call: "POST /orders/{order_id}/messages" }"# + "\n"
                + #"      update: { call: "PATCH /orders/{order_id}/messages/{id}" }"#
        ).replacing("order_id: { type", with: "text: { type: string }\n      order_id: { type")
        for arrives in [true, false] {
            let test = try await test(yaml)
            try test.upstream.set("/orders/a/messages", #"[{"id":"l","text":"no"},{"id":"k"},{"id":"m","text":"ok"}]"#)
            _ = try await test.store.apply(
                PulledPage(entity: "messages", records: #"[{"id":"m","order_id":"a","text":"ok"}]"#),
                at: test.clock.timestamp)
            try await test.store.update(
                "messages", key: "m", body: JSONText(parsing: #"{"text":"mine"}"#), at: test.clock.timestamp)
            test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
            try await test.send()
            try await test.send()
            #expect(try test.store.pendingCount().pending == 0)
            #expect(test.upstream.pushes.count == (arrives ? 1 : 2))
            let record = try #require(try test.record("m", "messages"))
            #expect(record["text"] == "mine" && record["order_id"] == "a")
        }
    }

    @Test("a lookup by values also finds a creation under its own key")
    func lookUpMatchOwnKey() async throws {
        let yaml = withoutKeys.replacing(
            "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")
        let test = try await test(yaml, keepsKeys: true)
        _ = try await test.create(#"{"id":"b","notes":"new"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a creation whose answer was lost is looked up by its key where the upstream keeps keys")
    func lookUpKey() async throws {
        let yaml = withoutKeys.replacing("call: POST /orders }", with: "call: POST /orders, look_up: key }")
        for arrives in [true, false] {
            let test = try await test(yaml, keepsKeys: true)
            _ = try await test.create(#"{"id":"b","notes":"new"}"#)
            test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
            try await test.send()
            try await test.send()
            // A server that does not show it yet may only be behind.
            #expect(try test.store.pendingCount().pending == (arrives ? 0 : 1))
            test.clock.advance(by: .seconds(61))
            try await test.send()
            #expect(try test.store.pendingCount().pending == 0)
            #expect(test.upstream.records("/orders").filter { $0["id"] == "b" }.count == 1)
            #expect(test.upstream.pushes.count == (arrives ? 1 : 2))
        }
    }

    @Test("a lost creation is sent again though the only other record that the cache has is gone")
    func lookUpBesideGone() async throws {
        let yaml = withoutKeys.replacing("call: POST /orders }", with: "call: POST /orders, look_up: key }")
        let test = try await test(yaml, keepsKeys: true)
        _ = try await test.create(#"{"id":"b","notes":"new"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        // Single records were served before, and the list has one that the cache has not.
        try await test.store.setSetting("single:orders", to: "served")
        try test.upstream.set("/orders", #"[{"id":"z"}]"#)
        test.clock.advance(by: .seconds(61))
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == 2)
    }

    @Test(
        "a lost creation is looked up by its values and never mistaken for an older record")
    func lookUpMatch() async throws {
        let yaml = withoutKeys.replacing(
            #"call: "POST /orders/{order_id}/messages" }"#,
            with:
                #"call: "POST /orders/{order_id}/messages", look_up: { match: [text], path: "/orders/{order_id}/messages" } }"#
        ).replacing("order_id: { type", with: "text: { type: string }\n      order_id: { type")
        for arrives in [true, false] {
            let test = try await test(yaml)
            try test.upstream.set("/orders/a/messages", #"[{"id":"m","order_id":"a","text":"ok"}]"#)
            _ = try await test.store.apply(
                PulledPage(entity: "messages", records: #"[{"id":"m","order_id":"a","text":"ok"}]"#),
                at: test.clock.timestamp)
            _ = try await test.create(#"{"order_id":"a","text":"ok"}"#, in: "messages")
            test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
            try await test.send()
            try await test.send()
            #expect(test.upstream.records("/orders/a/messages").count == (arrives ? 2 : 1))
            test.clock.advance(by: .seconds(61))
            try await test.send()
            #expect(try test.store.pendingCount().pending == 0)
            #expect(test.upstream.records("/orders/a/messages").count == 2)
            #expect(try test.store.rowCounts()["messages"] == 2)
        }
    }

    @Test("a creation with a key is repeated at once, unless the upstream shows it", arguments: [true, false])
    func lookUpBesideKey(arrives: Bool) async throws {
        let test = try await test(
            TestEngine.shop.replacing(
                "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }"))
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
        try await test.send()
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == (arrives ? 1 : 2))
        #expect(try test.store.rowCounts()["orders"] == 2)
    }

    @Test("a creation whose key stands in its body is repeated under that key where there is no header for it")
    func keyInBody() async throws {
        let route = #"create: { call: POST /orders, body: { <<: $fields, request: "{$key}" } }"#
        let test = try await test(withoutKeys.replacing("create: { call: POST /orders }", with: route))
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        for _ in 1...2 { try await test.send() }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 2 && Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 2)
    }

    @Test("a key that was first used a while ago may be forgotten, so the creation is looked up until it has settled")
    func oldKey() async throws {
        let test = try await test(
            TestEngine.shop.replacing(
                "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }"))
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), times: 2)
        try await test.send()
        test.clock.advance(by: .seconds(40))
        try await test.send()
        #expect(test.upstream.pushes.count == 2)
        test.clock.advance(by: .seconds(40))
        try await test.send()
        #expect(test.upstream.pushes.count == 2, "the last attempt may still be applied")
        test.clock.advance(by: .seconds(40))
        try await test.send()
        #expect(test.upstream.pushes.count == 3)
        #expect(try test.store.pendingCount().pending == 0)
    }

    @Test("a look-up that the upstream refuses says nothing about the change", arguments: [403, 404])
    func barredLookUp(status: Int) async throws {
        let test = try await test(
            withoutKeys.replacing("call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }"))
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        let refused = "GET /orders answered \(status)"
        test.upstream.failList(
            "/orders", status == 404 ? .gone(status: 404, refused) : .barred(status: status, refused))
        let now = test.clock.timestamp + .seconds(61)
        var pusher = test.pusher(at: now)
        pusher.passage.verdict = { _, _, _, _ in .concernsChange }
        for change in try test.store.readyChanges(limit: 9, at: now) { _ = try await pusher.send(change) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        test.upstream.failList("/orders", nil)
        try await test.send(after: .seconds(200))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a lookup finds a value at the field's source")
    func lookUpSource() async throws {
        let yaml = withoutKeys.replacing(
            "call: POST /orders }", with: "call: POST /orders, look_up: { match: [client_id] } }"
        ).replacing(
            "notes: { type: string }",
            with: "notes: { type: string }\n      client_id: { type: string, from: client.id }")
        let test = try await test(yaml)
        _ = try await test.create(#"{"client_id":"c7"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b","client":{"id":"c7"}}]"#)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a creation that cannot be looked up is left to a person, not duplicated")
    func unknowable() async throws {
        let test = try await test(withoutKeys)
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try await test.send()
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "unclear")
        _ = try await test.store.retry(nil, at: test.clock.timestamp)
        try await test.send()
        #expect(test.upstream.pushes.count == 2, "a user's retry sends it")
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a creation whose answer was lost waits, uncounted, while the upstream may not show it yet")
    func notYet() async throws {
        let yaml = withoutKeys.replacing(
            "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")
        let test = try await test(yaml)
        let key = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        // The list is behind.
        let records = test.upstream.records("/orders")
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        for _ in 1...5 {
            test.clock.advance(by: .seconds(11))
            try await test.send()
        }
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["retry_count"] == 1)
        try test.upstream.set("/orders", JSONText.array(records).text)
        test.clock.advance(by: .seconds(11))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key)?["notes"] == "new" && test.store.rowCounts()["orders"] == 2)
    }

    // MARK: Routes

    @Test("an edit that does not fit one request is sent as several")
    func split() async throws {
        let yaml = TestEngine.shop.replacing(
            #"update: { call: "PATCH /orders/{id}" }"#,
            with:
                #"update: [{ call: "PUT /orders/{id}/status", fields: [status] }, { call: "PATCH /orders/{id}", fields: [notes] }]"#
        ).replacing("notes: { type: string }", with: "notes: { type: string }\n      status: { type: string }")
        let test = try await test(yaml)
        try await test.change("a", #"{"notes":"mine","status":"ready"}"#)
        try await test.send()
        try await test.send()
        #expect(test.upstream.pushes.map(\.request.path) == ["/orders/a", "/orders/a/status"])
        #expect(test.upstream.pushes.map { $0.request.body?.text } == [#"{"notes":"mine"}"#, #"{"status":"ready"}"#])
    }
}
