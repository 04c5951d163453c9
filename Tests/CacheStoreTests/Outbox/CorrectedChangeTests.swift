import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Changes that the server refused, or that cannot be sent")
struct CorrectedChangeTests {
    private let now = TestCache.now

    private func ready(_ cache: TestCache) throws -> [OutboxChange] { try cache.store.readyChanges(limit: 9, at: now) }

    private func refuse(_ cache: TestCache, as errorClass: ErrorClass = .refused) async throws {
        try await cache.send(.failed(PushFailure(errorClass, status: 422, message: "no")))
    }

    private func edit(_ cache: TestCache, _ key: String, _ body: String) async throws {
        try await cache.store.update("orders", key: key, body: JSONText(parsing: body), at: now)
    }

    @Test("#17 deleting a record whose creation was refused cancels both", arguments: [ErrorClass.refused, .conflict])
    func deletion(errorClass: ErrorClass) async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"n"}"#)
        try await refuse(cache, as: errorClass)
        try await edit(cache, key, #"{"status":"open"}"#)
        try await cache.store.delete("orders", key: key, at: now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try cache.record("orders", key) == nil)
    }

    @Test("deleting a record whose creation may have arrived waits for that creation")
    func unclear() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"n"}"#)
        try await refuse(cache, as: .unclear)
        try await cache.store.delete("orders", key: key, at: now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 1))
        #expect(try ready(cache).isEmpty)
    }

    @Test("#17 a creation that is refused with its deletion behind it cancels both")
    func refusedBeforeDeletion() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"n"}"#)
        let creation = try await cache.begun()
        try await cache.store.delete("orders", key: key, at: now)
        #expect(try cache.store.pendingCount().pending == 2)
        let refusal = PushFailure(.refused, status: 422, message: "no")
        try await cache.store.finish(creation.id, .failed(refusal), at: now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try cache.record("orders", key) == nil)
    }

    @Test("#17 an edit that is refused with the deletion of its record behind it lets that pass")
    func refusedEditBeforeDeletion() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        let bad = try await cache.begun()
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.store.finish(bad.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        #expect(try ready(cache).map(\.operation) == [.delete])
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 0))
    }

    @Test("#17 a refused edit does not block the deletion of its record")
    func refusedEdit() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        try await refuse(cache)
        try await cache.store.delete("orders", key: "a", at: now)
        #expect(try ready(cache).map(\.operation) == [.delete])
    }

    @Test("#17 a good value for a refused field replaces it and is sent")
    func goodValue() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad","total":2}"#)
        let refused = try #require(try ready(cache).first)
        try await refuse(cache)
        try await edit(cache, "a", #"{"notes":"good"}"#)
        let change = try #require(try ready(cache).first)
        #expect(change.id == refused.id && change.idempotencyKey != refused.idempotencyKey)
        #expect(change.body.text == #"{"notes":"good","total":2}"# && !change.isTried)
        try await cache.send(answer: #"{"id":"a","notes":"good","total":2}"#)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a correction without a difference sends the same refused change again, under another key")
    func sameValue() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await edit(cache, "a", #"{"notes":"mine"}"#)
        let refused = try #require(try ready(cache).first)
        try await refuse(cache)
        try await cache.store.correct(refused.id, setting: JSONText(parsing: #"{"notes":"mine"}"#), at: now)
        let again = try #require(try ready(cache).first)
        #expect(again.id == refused.id && again.body == refused.body && again.idempotencyKey != refused.idempotencyKey)
    }

    @Test("#17 a field that comes with the good value is compared with what the server had when it was edited")
    func goodValueAndMore() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        try await refuse(cache)
        try await edit(cache, "a", #"{"notes":"good","total":2}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1,"status":"open"}]"#)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try cache.record("orders", "a")?["total"] == 2)
    }

    @Test("#17 a good value replaces the refused one also in front of an edit of another field, which follows it")
    func goodValueInFront() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        let refused = try #require(try ready(cache).first)
        try await refuse(cache)
        try await edit(cache, "a", #"{"total":2}"#)
        try await edit(cache, "a", #"{"notes":"good"}"#)
        let change = try #require(try ready(cache).first)
        #expect(change.id == refused.id && change.body.text == #"{"notes":"good"}"#)
        try await cache.send(answer: nil)
        #expect(try ready(cache).map(\.body.text) == [#"{"total":2}"#])
    }

    @Test("#17 if an edit is refused, a good value that waits behind it replaces it and is sent")
    func goodValueBefore() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad","total":2}"#)
        let bad = try await cache.begun()
        let good = try await cache.store.write(at: now) { transaction in
            try transaction.track(.update, of: "orders", fields: ["notes"]) {
                ("a", try transaction.update("orders", key: "a", JSONText(parsing: #"{"notes":"good"}"#)))
            }.queued
        }
        #expect(good.changes != [bad.id])
        try await cache.store.finish(bad.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        let change = try #require(try ready(cache).first)
        #expect(change.id == bad.id && change.idempotencyKey != bad.idempotencyKey && !change.isTried)
        #expect(change.body.text == #"{"notes":"good","total":2}"#)
        #expect(try cache.store.progress(of: good) == .pending(position: 1))
        #expect(try cache.store.carriers(of: good) == [bad.id])
        let kinds: [ChangeLogKind] = [.discarded, .failed]
        let ended = try cache.store.changes(since: 0, filter: ChangeFilter(kinds: kinds), limit: 9).events
        #expect(ended.map { $0.document["carrier"]?.integer } == [Int(bad.id)])
        try await cache.send(answer: #"{"id":"a","notes":"good","total":2}"#)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try cache.store.progress(of: good) == .confirmed)
    }

    @Test("a refused edit and the one behind it are left to a person if the record seems to have been deleted")
    func deletedMeanwhile() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        let bad = try await cache.begun()
        try await edit(cache, "a", #"{"notes":"good"}"#)
        _ = try await cache.store.delete(["a"], of: "orders", position: .max, at: now)
        try await cache.store.finish(bad.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        #expect(try ready(cache).isEmpty)
        #expect(try cache.store.conflicts(before: nil, open: true, limit: 9).conflicts.count == 1)
        #expect(try cache.record("orders", "a")?["notes"] == "good")
    }

    @Test("a value set by an attempt with a lost answer is in no conflict with the correction of the refused change")
    func lostBefore() async throws {
        let cache = try await TestCache.with(orders: #"[{"id":"a","notes":"n","total":1}]"#, conflict: "manual")
        try await edit(cache, "a", #"{"notes":"lost"}"#)
        let lost = try await cache.begun()
        let timeout = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(lost.id, .waiting(timeout, at: now, counted: true), at: now)
        _ = try await cache.begun()
        let changed = PushFailure(.conflict, status: 412, message: "the record has changed")
        try await cache.store.finish(lost.id, .failed(changed), at: now)
        for notes in ["better", "best"] { try await edit(cache, "a", #"{"notes":"\#(notes)"}"#) }
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"lost","total":1}]"#)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try cache.record("orders", "a")?["notes"] == "best")
    }

    @Test("of a change that is corrected again and again, the last 20 values that were sent are kept")
    func manyCorrections() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        for number in 0...25 {
            try await edit(cache, "a", #"{"notes":"v\#(number)"}"#)
            if number < 25 { try await refuse(cache) }
        }
        let text = try await cache.store.pool.read { try String.fetchOne($0, sql: "SELECT sent FROM sync_outbox") }
        let sent = try JSONText(parsing: try #require(text))["notes"]?.elements.map(\.plain)
        #expect(sent == (5..<25).map { "v\($0)" })
    }

    @Test("#17 if a creation is refused, an edit that waits behind it corrects it")
    func creationBefore() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"bad"}"#)
        let creation = try await cache.begun()
        try await edit(cache, key, #"{"notes":"good"}"#)
        try await cache.store.finish(creation.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        let change = try #require(try ready(cache).first)
        #expect(change.id == creation.id && change.operation == .create && change.body["notes"] == "good")
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try cache.record("orders", key)?["notes"] == "good")
    }

    @Test("an edit of another field keeps waiting behind a refused edit")
    func otherFieldBefore() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        let bad = try await cache.begun()
        try await edit(cache, "a", #"{"total":2}"#)
        try await cache.store.finish(bad.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        #expect(try ready(cache).isEmpty)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 1, failed: 1))
    }

    @Test("a listed record with another number than was sent, or without one, is not the one that was created")
    func anotherNumber() async throws {
        let cache = try TestCache()
        _ = try await cache.make("orders", #"{"total":5}"#)
        let change = try #require(try ready(cache).first)
        let orders = try #require(cache.store.schema["orders"])
        for (record, mayBe) in [
            (#"{"id":"x","total":5}"#, true), (#"{"id":"x","total":6}"#, false), (#"{"id":"x"}"#, false),
        ] {
            #expect(try change.mayBe(JSONText(parsing: record), of: orders, ["total"]) == mayBe, "\(record)")
        }
    }

    @Test("a record with the number in 32 bits, or the time in steps, may be the one that was created")
    func coarse() async throws {
        let cache = try TestCache()
        _ = try await cache.make("orders", #"{"total":19.99,"created_at":"2026-11-21T08:03:20Z"}"#)
        let change = try #require(try ready(cache).first)
        let orders = try #require(cache.store.schema["orders"])
        for (total, time, mayBe) in [
            ("19.989999771118164", "08:00", true), ("19.99", "08:30", true), ("19.98", "08:00", false),
            ("19.99", "08:07", false),
        ] {
            let record = try JSONText(parsing: #"{"id":"x","total":\#(total),"created_at":"2026-11-21T\#(time):00Z"}"#)
            #expect(change.mayBe(record, of: orders, ["total", "created_at"]) == mayBe, "\(record)")
        }
    }

    @Test("a record that has all values that were sent but one may be the one that was created")
    func nearly() async throws {
        let cache = try TestCache()
        _ = try await cache.make("orders", #"{"notes":"n","status":"open","total":5}"#)
        let change = try #require(try ready(cache).first)
        let orders = try #require(cache.store.schema["orders"])
        func isNearly(_ record: String) throws -> Bool {
            change.isNearly(try JSONText(parsing: record), of: orders, ["notes", "status"])
        }
        #expect(try isNearly(#"{"id":"x","notes":"n","status":"ready","total":5}"#))
        #expect(try !isNearly(#"{"id":"x","notes":"n","status":"ready","total":6}"#))
    }

    @Test("#17 any edit corrects a refused creation, which may have lacked just that field")
    func creation() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"n"}"#)
        try await refuse(cache)
        try await edit(cache, key, #"{"status":"open"}"#)
        let change = try #require(try ready(cache).first)
        #expect(change.operation == .create && change.body["status"] == "open" && change.body["notes"] == "n")
    }

    @Test("an edit of another field waits behind a refused edit; a newer value behind it stays the newest")
    func otherField() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await edit(cache, "a", #"{"notes":"bad"}"#)
        try await refuse(cache)
        try await edit(cache, "a", #"{"total":2}"#)
        #expect(try ready(cache).isEmpty)
        try await edit(cache, "a", #"{"notes":"good","total":3}"#)
        #expect(try ready(cache).isEmpty)
        #expect(try cache.record("orders", "a")?["notes"] == "good")
    }

    // MARK: An entity that the schema lost

    private static let withoutMessages = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields: { id: { type: string }, notes: { type: string } }
            pull: { path: /orders, deleted: deleted_at }
            push: { update: { call: "PATCH /orders/{id}" } }
        """

    @Test("what an attempt before the correction has set is no one else's change, however late the server shows it")
    func correctedAfterAttempt() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        for notes in ["first", "second"] {
            if notes == "first" { try await edit(cache, "a", #"{"notes":"first"}"#) }
            let id = try #require(try ready(cache).first).id
            let lost = PushFailure(.timeout, message: "no answer")
            try await cache.send(.waiting(lost, at: now, counted: true))
            let next = notes == "first" ? "second" : "third"
            try await cache.store.correct(id, setting: JSONText(parsing: #"{"notes":"\#(next)"}"#), at: now)
        }
        for shown in ["n", "second", "first"] {
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"\#(shown)"}]"#)
            #expect(try cache.record("orders", "a")?["notes"] == "third")
        }
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        try await cache.send(answer: #"{"id":"a","notes":"third"}"#)
        // A replica that is behind shows what was sent on the way.
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"second"}]"#)
        #expect(try cache.record("orders", "a")?["notes"] == "third")
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs"}]"#)
        #expect(try cache.record("orders", "a")?["notes"] == "theirs")
    }

    @Test("#14 changes of an entity that the schema lost take no slot, and say why they wait")
    func lostEntity() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#)
        for number in 1...9 { _ = try await cache.make("messages", #"{"order_id":"a","text":"\#(number)"}"#) }
        let tried = try #require(try ready(cache).first)
        _ = try await cache.store.begin(tried, at: now)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(tried.id, .waiting(lost, at: now, counted: true), at: now)
        try await edit(cache, "b", #"{"notes":"m"}"#)
        let other = try cache.reopened(schema: Self.withoutMessages)
        let change = try #require(try other.store.readyChanges(limit: 2, at: now).first)
        #expect(change.key == "b")
        #expect(try other.store.leastTriedChange(at: now) == nil)
        #expect(try other.store.nextAttempt() == nil)
        _ = try await other.store.begin(change, at: now)
        try await other.store.finish(change.id, .waiting(lost, at: now + .seconds(5), counted: true), at: now)
        #expect(try other.store.leastTriedChange(at: now)?.key == "b")
        #expect(try other.store.nextAttempt() == now + .seconds(5))
        let waiting = try #require(try other.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(waiting["state"] == "blocked")
        #expect(waiting.at(path: "error.message")?.string?.contains("no longer has the entity messages") == true)
        // They are sent once the schema has it again.
        let again = try other.reopened()
        #expect(try again.store.readyChanges(limit: 20, at: now).contains { $0.entity == "messages" })
    }

    @Test("#20 a record that is gone is not found under the key that the caller knows")
    func knownKey() async throws {
        let cache = try TestCache()
        let order = try await cache.make("orders", #"{"notes":"n"}"#)
        try await cache.send(answer: #"{"id":"srv-1"}"#)
        try await cache.store.delete("orders", key: order, at: now)
        await #expect(throws: CacheError.notCached(entity: "orders", key: order)) {
            try await edit(cache, order, #"{"notes":"x"}"#)
        }
    }

    @Test("#20 an edit answered with another key renames the record; an answer that says something else does not")
    func renamed() async throws {
        let answers = [(#"{"id":"new-title","notes":"New title"}"#, "new-title"), (#"{"id":"x","notes":"?"}"#, "a")]
        for (answer, key) in answers {
            let cache = try TestCache()
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"Title"}]"#)
            try await edit(cache, "a", #"{"notes":"New title"}"#)
            try await cache.send(answer: answer)
            #expect(try cache.keys(ListQuery(entity: "orders")) == [key])
            #expect(try cache.record("orders", "a")?["notes"] == "New title")
        }
    }
}
