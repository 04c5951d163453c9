import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of an edit whose answer was lost.
@Suite("An edit whose answer was lost")
struct LostEditTests {
    private let withoutKeys = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")

    /// With order "a", whose notes were edited. The answer is lost; `arrives`: the edit is not.
    private func sent(_ yaml: String, arrives: Bool, keepsKeys: Bool = false) async throws -> TestEngine {
        let test = try await TestEngine.with(yaml)
        if keepsKeys { test.upstream.keepKeys() }
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
        try await test.send()
        try await test.send()
        return test
    }

    @Test("it is not repeated when the server has it")
    func here() async throws {
        let test = try await sent(withoutKeys, arrives: true)
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == 1)
    }

    private let creationKeys = TestEngine.shop.replacing(
        "idempotency_header: Idempotency-Key", with: "idempotency_header: { header: Idempotency-Key, for: create }")

    @Test("it is looked at before it is sent again where the upstream recognizes only creations by their key")
    func keysOfCreations() async throws {
        let test = try await sent(creationKeys, arrives: true)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("a creation is repeated under its key there")
    func creation() async throws {
        let test = try TestEngine(schema: creationKeys)
        _ = try await test.create()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 2 && Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 1)
    }

    @Test("nor is one that is formed from the server's record, as a repeat under its key would be another request")
    func whole() async throws {
        let yaml = TestEngine.shop.replacing("PATCH /orders", with: "PUT /orders")
        let test = try await sent(yaml, arrives: true, keepsKeys: true)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("one of a set that the upstream recognizes by its key is repeated as it was, without another reading before")
    func recognized() async throws {
        let notes = "      notes: { type: string }"
        let test = try await TestEngine.with(
            orders: #"[{"id":"a","notes":"n","tags":["both"]}]"#,
            TestEngine.shop.replacing(notes, with: "\(notes)\n      tags: { type: list, merge: set }"))
        try await test.change("a", #"{"tags":["both","mine"]}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        let reads = test.upstream.recordRequests
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 2 && Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.recordRequests == reads + 1, "once it is answered")
    }

    /// With order "a", whose notes were edited, and which others have edited ten minutes after the answer was lost.
    private func editedMeanwhile(_ yaml: String = TestEngine.shop, arrives: Bool) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        let before = #"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00Z"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: before), at: test.clock.timestamp)
        try test.upstream.set("/orders", before)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
        try await test.send()
        let later = test.clock.timestamp + .seconds(600)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"theirs, later","updated_at":"\#(later)"}]"#)
        return test
    }

    @Test(
        "it is merged with what others have written since before it is repeated under its key",
        arguments: [true, false])
    func lateRepeat(arrives: Bool) async throws {
        let test = try await editedMeanwhile(arrives: arrives)
        try await test.send(after: .seconds(660))
        #expect(test.upstream.pushes.count == 1, "the last write was theirs")
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["notes"] == "theirs, later")
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count == 1)
    }

    @Test("if it wins over what others have written since, it is applied, although the upstream knows its first key")
    func winningRepeat() async throws {
        let yaml = TestEngine.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n")
        let test = try await editedMeanwhile(yaml, arrives: true)
        try await test.send(after: .seconds(660))
        #expect(Set(test.upstream.pushes.map(\.key)).count == 2)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("if its record cannot be read, it is repeated all the same", arguments: [true, false])
    func lateRepeatUnread(isHidden: Bool) async throws {
        let test = try await editedMeanwhile(arrives: false)
        if isHidden { test.upstream.hide("a") } else { test.upstream.failRecords(.unclear(status: 500, "down")) }
        try await test.send(after: .seconds(660))
        #expect(test.upstream.pushes.count == 2)
    }

    @Test("a version that is older than the cached one, from a server that is behind, is not what it is merged with")
    func readOlder() async throws {
        let yaml = TestEngine.shop.replacing("PATCH /orders", with: "PUT /orders")
        let test = try TestEngine(schema: yaml)
        let known = #"[{"id":"a","notes":"n","phone":"theirs","updated_at":"2026-01-02T00:00:00Z"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: known), at: test.clock.timestamp)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","phone":"old","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        #expect(test.upstream.pushes.first?.request.body?["phone"] == "theirs")
    }

    @Test("a refusal of its repeat counts only once the server must show what the first attempt did")
    func refusedEarly() async throws {
        for isShown in [true, false] {
            let test = try await TestEngine.with(withoutKeys)
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.fail(.unclear(status: nil, "no answer"))
            try await test.send()
            test.upstream.refuse { _ in .refused(status: 422, "it is so already") }
            try await test.send(after: .seconds(2))
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
            if isShown { try test.upstream.set("/orders", #"[{"id":"a","notes":"mine"}]"#) }
            try await test.send(after: .seconds(15))
            #expect(try test.store.pendingCount().pending == (isShown ? 0 : 1))
            try await test.send(after: .seconds(80))
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: isShown ? 0 : 1))
        }
    }

    @Test("the answer to its repeat is believed, not what was read before it")
    func readBehind() async throws {
        let old = #"[{"id":"a","notes":"n","revision":"1","updated_at":"2026-01-01T00:00:01Z"}]"#
        let test = try await TestEngine.with(orders: old)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        let answer = #"{"id":"a","notes":"mine","revision":"2","updated_at":"2026-01-01T00:00:02Z"}"#
        try test.upstream.answer(answer, times: 1, applying: false)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        let record = try #require(try test.record("a"))
        #expect(record["notes"] == "mine" && record["revision"] == "2")
        #expect(record["updated_at"] == "2026-01-01T00:00:02Z")
    }

    @Test("a reading whose time was cut to whole seconds is not from before the answer to the repeat")
    func readInWholeSeconds() async throws {
        let test = try TestEngine(schema: TestEngine.shop)
        let old = #"[{"id":"a","notes":"n","revision":"1","updated_at":"2026-01-01T00:00:01Z"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: old), at: test.clock.timestamp)
        try test.upstream.set("/orders", old)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        try test.upstream.set(
            "/orders", #"[{"id":"a","notes":"mine","revision":"3","updated_at":"2026-01-01T00:00:02Z"}]"#)
        let answer = #"{"id":"a","notes":"mine","revision":"2","updated_at":"2026-01-01T00:00:02.345Z"}"#
        try test.upstream.answer(answer, times: 1, applying: false)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["revision"] == "3")
    }

    @Test("what the server made of it stays if its repeat is answered with an older version, which nothing shows again")
    func shownBefore() async throws {
        let old = #"{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:01Z"}"#
        let test = try await TestEngine.with(orders: "[\(old)]")
        try await test.change("a", #"{"notes":" mine "}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        let new = #"[{"id":"a","notes":"mine","updated_at":"2026-01-01T00:00:02Z"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: new), at: test.clock.timestamp)
        try test.upstream.answer(old, times: 1)
        test.upstream.failRecords(.refused(status: 405, "not allowed"))
        try await test.send(after: .seconds(9))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["notes"] == "mine")
    }

    @Test("it is not repeated when its record is gone, as some servers would make a record of it")
    func gone() async throws {
        let test = try await TestEngine.with(orders: #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#, withoutKeys)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"b","notes":"n"}]"#)
        try await test.send(after: .seconds(61))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a") == nil)
        let conflict = try #require(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["winner"] == "server" && conflict.at(path: "local.notes") == "mine")
    }

    @Test("it is repeated when it did not arrive")
    func missing() async throws {
        let test = try await sent(withoutKeys, arrives: false)
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("one of a list is not repeated when the server has it, with what it filled in, and meets no conflict")
    func filled() async throws {
        let test = try await lines(from: "[]", to: #"[{"sku":"x","quantity":1}]"#)
        let shown = #"[{"id":7,"sku":"x","quantity":1.0,"created_at":"2026-01-31T09:00:00Z"}]"#
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","lines":\#(shown)}]"#)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try test.store.remote(of: "orders", key: "a")?["lines"]?.text == shown)
    }

    @Test(
        "one that empties a field is not repeated where the server stores zero for nothing, and meets no conflict",
        arguments: [
            ("integer", "5", "0"), ("money", "7.5", "0.00"), ("boolean", "true", "0"),
            ("date", #""2026-01-31""#, #""0001-01-01""#),
            ("time", #""2026-01-31T09:00:00Z""#, #""0000-00-00 00:00:00""#),
        ])
    func zeroed(_ type: String, _ before: String, _ zero: String) async throws {
        let notes = "      notes: { type: string }"
        let yaml = withoutKeys.replacing(notes, with: "\(notes)\n      extra: { type: \(type) }")
        let test = try await TestEngine.with(orders: #"[{"id":"a","notes":"n","extra":\#(before)}]"#, yaml)
        try await test.change("a", #"{"extra":null}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","extra":\#(zero)}]"#)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try test.store.remote(of: "orders", key: "a")?["extra"]?.text == zero)
    }

    @Test("one that removes a member of a list's object is repeated while the server has it")
    func unfilled() async throws {
        let before = #"[{"id":7,"sku":"x","discount":5}]"#
        let test = try await lines(from: before, to: #"[{"id":7,"sku":"x"}]"#, arrives: false)
        try await test.send()
        #expect(test.upstream.pushes.count == 2)
        #expect(test.upstream.records("/orders").first?["lines"]?.text == #"[{"id":7,"sku":"x"}]"#)
    }

    @Test("it is not repeated for a field that the server never shows, but for nothing else", arguments: [true, false])
    func writeOnly(hasOther: Bool) async throws {
        let notes = "      notes: { type: string }"
        let yaml = withoutKeys.replacing(notes, with: "\(notes)\n      reason: { type: string, write_only: true }")
        let test = try await TestEngine.with(yaml)
        try await test.change("a", hasOther ? #"{"notes":"mine","reason":"r"}"# : #"{"reason":"r"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"\#(hasOther ? "mine" : "n")"}]"#)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == (hasOther ? 1 : 2))
    }

    /// Order "a" with these lines, which were edited. The answer is lost.
    private func lines(from before: String, to body: String, arrives: Bool = true) async throws -> TestEngine {
        let notes = "      notes: { type: string }"
        let test = try await TestEngine.with(
            orders: #"[{"id":"a","notes":"n","lines":\#(before)}]"#,
            withoutKeys.replacing(notes, with: "\(notes)\n      lines: { type: list }"))
        try await test.change("a", #"{"lines":\#(body)}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: arrives)
        try await test.send()
        return test
    }
}
