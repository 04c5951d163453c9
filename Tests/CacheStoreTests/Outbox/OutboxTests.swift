import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The outbox")
struct OutboxTests {
    private let now = TestCache.now

    private func ready(_ cache: TestCache) throws -> [OutboxChange] {
        try cache.store.readyChanges(limit: 100, at: now)
    }

    private func send(_ change: OutboxChange, _ outcome: PushOutcome, _ cache: TestCache) async throws {
        #expect(try await cache.store.begin(change, at: now))
        try await cache.store.finish(change.id, outcome, at: now)
    }

    @Test("unsent updates of a record become one change")
    func folds() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":1}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        try await cache.store.update(
            "orders", key: "a", body: JSONText(parsing: #"{"total":129.90,"notes":null}"#), at: now)
        let changes = try ready(cache)
        #expect(changes.count == 1)
        #expect(changes.first?.body.text == #"{"notes":null,"total":129.90}"#)
    }

    @Test("each value of a field with steps is a change of its own, sent in order")
    func steps() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("status: { type: enum,", with: "status: { type: enum, steps: true,"))
        _ = try await cache.pull("orders", #"[{"id":"a","status":null,"notes":"n"}]"#)
        for body in [#"{"status":"open"}"#, #"{"notes":"x"}"#, #"{"status":"ready"}"#, #"{"notes":"y"}"#] {
            try await cache.store.update("orders", key: "a", body: JSONText(parsing: body), at: now)
        }
        #expect(try cache.record("orders", "a")?["status"] == "ready")
        let first = try #require(try ready(cache).first)
        #expect(first.body.text == #"{"status":"open","notes":"x"}"#)
        let answer = try JSONText(parsing: #"{"id":"a","status":"open","notes":"x"}"#)
        try await send(first, .acknowledged(record: answer), cache)
        #expect(try ready(cache).map(\.body.text) == [#"{"status":"ready","notes":"y"}"#])
        #expect(try cache.record("orders", "a")?["status"] == "ready")
    }

    @Test("a record keeps its key if the answer to its creation names one that cannot be a key")
    func unusableKey() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: .object(["notes": "mine"]), at: now)
        let change = try #require(try ready(cache).first)
        let answer = try JSONText(parsing: #"{"id":"\ud800","notes":"mine"}"#)
        try await send(change, .acknowledged(record: answer), cache)
        #expect(try cache.record("orders", key)?["notes"] == "mine")
        #expect(try cache.record("orders", "\u{FFFD}") == nil)
    }

    @Test("a step that is taken back before it is sent is not sent")
    func stepBack() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("status: { type: enum,", with: "status: { type: enum, steps: true,"))
        _ = try await cache.pull("orders", #"[{"id":"a","status":null}]"#)
        for status in ["open", "ready", "open"] {
            try await cache.store.update("orders", key: "a", body: .object(["status": .string(status)]), at: now)
        }
        let first = try #require(try ready(cache).first)
        try await send(first, .acknowledged(record: JSONText(parsing: #"{"id":"a","status":"open"}"#)), cache)
        #expect(try ready(cache).allSatisfy { $0.body["status"] == "open" })
    }

    @Test("ready changes come oldest first, whether queued or due for retry, without those about to be sent")
    func readyInOrder() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]"#)
        for key in ["a", "b", "c", "d"] {
            try await cache.store.update("orders", key: key, body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        }
        let ids = try ready(cache).map(\.id)
        let failure = PushFailure(.server, message: "not now")
        for (change, wait) in try zip(ready(cache).dropFirst(), [0, 9]) {
            try await send(change, .waiting(failure, at: now + .seconds(wait), counted: true), cache)
        }
        #expect(try ready(cache).map(\.id) == [ids[0], ids[1], ids[3]])
        let others = try cache.store.readyChanges(limit: 1, at: now, notOf: [ids[0], ids[2]])
        #expect(others.map(\.id) == [ids[1]])
    }

    @Test("a record that came after an attempt was not known before it, whatever was deleted meanwhile")
    func knownBefore() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        for key in ["new", "other"] {
            _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"\#(key)"}"#), at: now)
        }
        let change = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(change, at: now))
        try await cache.store.delete("orders", key: "other", at: now)
        _ = try await cache.pull("orders", #"[{"id":"b"},{"id":"c"}]"#)
        #expect(try ["a", "b", "c"].map { try cache.store.wasKnown($0, before: change) } == [true, false, false])
    }

    @Test("an edit made while an earlier one is in flight is sent after it")
    func editWhileUploading() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let first = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(first, at: now))
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"y"}"#), at: now)
        #expect(try ready(cache).isEmpty)
        try await cache.store.finish(
            first.id, .acknowledged(record: JSONText(parsing: #"{"id":"a","notes":"x"}"#)), at: now)
        #expect(try ready(cache).map(\.body.text) == [#"{"notes":"y"}"#])
        #expect(try cache.record("orders", "a")?["notes"]?.string == "y")
    }

    @Test("a change is not begun when another edit has joined it since it was read")
    func joinedMeanwhile() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let read = try #require(try ready(cache).first)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"total":1}"#), at: now)
        #expect(try await cache.store.begin(read, at: now) == false)
        #expect(try await cache.store.begin(#require(try ready(cache).first), at: now))
    }

    @Test("if two callers read the same change, one of them begins it")
    func begunOnce() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let read = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(read, at: now))
        let failure = PushFailure(.server, status: 500, message: "oops")
        try await cache.store.finish(read.id, .waiting(failure, at: now, counted: true), at: now)
        #expect(try await cache.store.begin(read, at: now) == false)
        #expect(try ready(cache).first?.attemptCount == 1)
    }

    @Test("a creation that succeeded leaves nothing when its record was deleted since")
    func acknowledgedTombstone() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let change = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(change, at: now))
        let tombstone = try JSONText(parsing: #"{"id":"b","notes":"x","deleted_at":"2026-11-21T00:00:00Z"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: tombstone), at: now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try cache.record("orders", "b") == nil && cache.record("orders", key) == nil)
    }

    @Test("a record that two look-ups found at once becomes one of the two creations")
    func foundTwice() async throws {
        let cache = try TestCache()
        for id in ["x", "y"] {
            let order = JSONText.object(["id": .string(id), "notes": "alike"])
            _ = try await cache.store.create("orders", body: order, at: now)
        }
        let found = PushOutcome.found(
            record: try JSONText(parsing: #"{"id":"b","notes":"alike"}"#), version: nil, view: .answer,
            otherwise: PushFailure(.unseen, message: "taken"), at: now)
        for change in try ready(cache) { try await send(change, found, cache) }
        #expect(try cache.record("orders", "x")?["id"] == "b")
        #expect(try cache.record("orders", "y")?["id"] == "y")
        // Its own attempt may still have arrived.
        #expect(try ready(cache).map { "\($0.key) \($0.isTried)" } == ["y true"])
        #expect(try cache.store.rowCounts()["orders"] == 2)
    }

    @Test("a value that a record already has is no change")
    func noChange() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","total":129.90}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"total":129.90}"#), at: now)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a child waits for its parent's creation, and both take the server's keys")
    func renames() async throws {
        let cache = try TestCache()
        let order = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: now)
        let message = try await cache.store.create(
            "messages", body: JSONText.object(["order_id": .string(order), "text": "hello"]), at: now)
        let first = try ready(cache)
        #expect(first.map(\.entity) == ["orders"])
        try await send(first[0], .acknowledged(record: JSONText(parsing: #"{"id":"srv-1","notes":"new"}"#)), cache)
        #expect(try ready(cache).first?.record["order_id"]?.string == "srv-1")
        #expect(try cache.record("messages", message)?["order_id"]?.string == "srv-1")
        #expect(try cache.record("orders", order)?["id"]?.string == "srv-1")
        let reopened = try cache.reopened()
        #expect(try reopened.record("orders", order)?["id"]?.string == "srv-1")
    }

    @Test("new records that refer to one another do not wait for one another")
    func mutual() async throws {
        let schema = """
            schema: mutual
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, above_id: { type: reference, to: notes } }
                pull: { path: /notes }
                push: { create: { call: POST /notes }, update: { call: "PATCH /notes/{id}" } }
            """
        let cache = try TestCache(schema: schema)
        let above = try await cache.store.create("notes", body: .object([:]), at: now)
        let below = try await cache.store.create("notes", body: .object(["above_id": .string(above)]), at: now)
        try await cache.store.update("notes", key: above, body: .object(["above_id": .string(below)]), at: now)
        for key in ["a", "b", "a"] {
            let change = try #require(try ready(cache).first)
            try await send(change, .acknowledged(record: change.body.setting("id", to: .string(key))), cache)
        }
        #expect(try cache.record("notes", "a")?["above_id"]?.string == "b")
        #expect(try cache.record("notes", "b")?["above_id"]?.string == "a")
    }

    @Test("a record pulled before its creation was acknowledged is not duplicated")
    func pulledBeforeAcknowledged() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"srv-1","notes":"new"}]"#)
        let change = try #require(try ready(cache).first)
        try await send(change, .acknowledged(record: JSONText(parsing: #"{"id":"srv-1","notes":"new"}"#)), cache)
        #expect(try cache.keys(ListQuery(entity: "orders")) == ["srv-1"])
        #expect(try cache.record("orders", key)?["id"]?.string == "srv-1")
        #expect(try cache.store.rowCounts()["orders"] == 1)
    }

    @Test("a failed change blocks only the changes that need it, and they name it")
    func blocks() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        for text in ["one", "two"] {
            let body = JSONText.object(["order_id": "a", "text": .string(text)])
            _ = try await cache.store.create("messages", body: body, at: now)
        }
        try await cache.store.update("orders", key: "b", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let first = try #require(try ready(cache).first)
        try await send(first, .failed(PushFailure(.refused, status: 422, message: "no")), cache)
        #expect(try ready(cache).map(\.key) == ["b"])
        let (changes, _) = try cache.store.pending(PendingQuery(limit: 10))
        #expect(changes.map { $0["state"]?.string } == ["failed", "blocked", "queued"])
        #expect(changes[1]["blocked_by"]?.integer == Int(first.id))
        #expect(try cache.store.pendingCount() == PendingCount(pending: 2, failed: 1))
        #expect(try await cache.store.retry(nil, at: now) == 1)
        // It has been attempted, so it can probe a failing upstream.
        #expect(try cache.store.leastTriedChange(at: now) != nil)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 3, failed: 0))
    }

    @Test("a creation that is only looked for does not probe a failing upstream before it is due")
    func lookedForIsNoProbe() async throws {
        let cache = try TestCache()
        let due = now + .seconds(10)
        for (errorClass, notes) in [(ErrorClass.unseen, "one"), (.accepted, "two"), (.server, "three")] {
            _ = try await cache.store.create("orders", body: .object(["notes": .string(notes)]), at: now)
            let change = try #require(try ready(cache).last)
            try await send(change, .waiting(PushFailure(errorClass, message: "…"), at: due, counted: false), cache)
        }
        #expect(try cache.store.leastTriedChange(at: now)?.body["notes"] == "three")
        #expect(try cache.store.leastTriedChange(at: due)?.body["notes"] == "one")
    }

    @Test("a creation that is looked for at once probes a failing upstream")
    func hastenedLookUp() async throws {
        let cache = try TestCache()
        _ = try await cache.store.create("orders", body: .object(["notes": "one"]), at: now)
        let change = try #require(try ready(cache).last)
        let unseen = PushFailure(.unseen, message: "…")
        try await send(change, .waiting(unseen, at: now + .seconds(10), counted: false), cache)
        try await cache.store.hastenWaiting(at: now)
        #expect(try cache.store.leastTriedChange(at: now)?.body["notes"] == "one")
    }

    @Test("of waiting changes, those that are named become due at once, and no others")
    func hastenedSome() async throws {
        let cache = try TestCache()
        let due = now + .seconds(600)
        for notes in ["one", "two", "three"] {
            _ = try await cache.store.create("orders", body: .object(["notes": .string(notes)]), at: now)
        }
        for change in try ready(cache) {
            try await send(change, .waiting(PushFailure(.server, message: "…"), at: due, counted: true), cache)
        }
        try await cache.store.hastenWaiting(at: now, only: [2])
        #expect(try ready(cache).map(\.id) == [2])
        try await cache.store.hastenWaiting(at: now)
        #expect(try ready(cache).map(\.id) == [1, 2, 3])
    }

    @Test("discarding a change in the middle keeps the order of the rest")
    func discardInTheMiddle() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        for text in ["one", "two", "three"] {
            let body = JSONText.object(["order_id": "a", "text": .string(text)])
            _ = try await cache.store.create("messages", body: body, at: now)
        }
        try await cache.store.discard(2, cascade: true, at: now)
        #expect(try ready(cache).map { $0.body["text"]?.string } == ["one"])
    }

    @Test("a waiting change becomes ready when it is due, and counts only the attempts that should count")
    func waits() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let change = try #require(try ready(cache).first)
        let failure = PushFailure(.timeout, message: "no answer")
        try await send(change, .waiting(failure, at: now + .seconds(5), counted: true), cache)
        #expect(try ready(cache).isEmpty)
        #expect(try cache.store.nextAttempt() == now + .seconds(5))
        let due = try cache.store.readyChanges(limit: 1, at: now + .seconds(5))
        #expect(due.first?.attemptCount == 1)
        #expect(due.first?.idempotencyKey == change.idempotencyKey)
    }

    @Test("a change in flight when the process died is sent again with the same key")
    func recovers() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let change = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(change, at: now))
        let reopened = try cache.reopened()
        #expect(try await reopened.store.recoverInterrupted(at: now, longest: { _ in .zero }) == 1)
        #expect(try ready(reopened).first?.idempotencyKey == change.idempotencyKey)
        try await reopened.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"y"}"#), at: now)
        #expect(try reopened.store.pendingCount().pending == 2)
    }

    @Test("deleting a record that was never sent leaves nothing; deleting any other is queued")
    func deletes() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: now)
        try await cache.store.delete("orders", key: key, at: now)
        #expect(try cache.store.pendingCount().pending == 0)
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        #expect(try cache.record("orders", "a") == nil)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"still there"}]"#)
        #expect(try cache.record("orders", "a") == nil)
        try await send(try #require(try ready(cache).first), .acknowledged(record: nil), cache)
        #expect(try cache.store.rowCounts()["orders"] == 0)
    }

    @Test("a body that does not fit the schema is refused with one message per field, and nothing is queued")
    func validates() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let body = try JSONText(parsing: #"{"status":"lost","total":"1","note":"x","created_at":"soon","id":"b"}"#)
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.update("orders", key: "a", body: body, at: now)
        }
        let problems = try #require(error?.problems)
        #expect(problems.map(\.field) == ["status", "total", "note", "created_at", "id"])
        #expect(problems[2].message.contains("did you mean notes?"))
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test("secret fields appear in no record and in no listed change")
    func secrets() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","passcode":"1234"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"passcode":"9876"}"#), at: now)
        let shown = try #require(try cache.record("orders", "a")).text + cache.store.pendingChange(1).text
        #expect(!shown.contains("1234") && !shown.contains("9876"))
        #expect(try ready(cache).first?.body["passcode"]?.string == "9876")
    }

    @Test("many concurrent writers all get an answer and are all stored")
    func groups() async throws {
        let cache = try TestCache()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let body = JSONText.object(["id": .string("k\(number)"), "total": .integer(number)])
                    _ = try await cache.store.create("orders", body: body, at: TestCache.now)
                }
            }
            try await group.waitForAll()
        }
        #expect(try cache.store.pendingCount().pending == 200)
        #expect(try cache.store.list(ListQuery(entity: "orders", limit: 1, count: true)).total == 200)
    }
}
