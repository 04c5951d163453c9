import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Each name says who changed what first.
@Suite("Conflicts between local and server changes")
struct ConflictTests {
    private let now = TestCache.now

    private func cache(_ record: String, _ policy: String = "last_write_wins") async throws -> TestCache {
        try await .with(orders: "[\(record)]", conflict: policy)
    }

    private func edit(_ cache: TestCache, _ body: String, offset: Duration = .zero) async throws {
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: body), at: now, clockOffset: offset)
    }

    private func conflicts(_ cache: TestCache, open: Bool = false) throws -> [JSONText] {
        try cache.store.conflicts(before: nil, open: open, limit: 100).conflicts
    }

    private func id(_ conflict: JSONText?) throws -> Int64 { Int64(try #require(conflict?["id"]?.integer)) }

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 100, at: now).map(\.body.text)
    }

    /// A time on the server, `seconds` after the local edits.
    private func time(_ seconds: Int) -> String { (now + .seconds(seconds)).description }

    @Test("fields changed on one side only are merged without a conflict")
    func disjoint() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","status":"open"}"#)
        try await edit(cache, #"{"notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","status":"ready","updated_at":"\#(time(60))"}]"#)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        #expect(try cache.record("orders", "a")?["status"] == "ready")
        #expect(try conflicts(cache).isEmpty)
        #expect(try ready(cache) == [#"{"notes":"mine"}"#])
    }

    @Test("the same value on both sides is no conflict, however it is written")
    func agreement() async throws {
        let cache = try await cache(#"{"id":"a","total":1}"#)
        try await edit(cache, #"{"total":129.90}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","total":129.9,"updated_at":"\#(time(60))"}]"#)
        #expect(try conflicts(cache).isEmpty)
    }

    @Test("the later of two writes to a field wins, by the server's clock; the server wins a tie")
    func lastWriteWins() async throws {
        for (server, offset, winner) in [(60, 0, "server"), (-60, 0, "local"), (0, 0, "server"), (60, 120, "local")] {
            let cache = try await cache(#"{"id":"a","notes":"n"}"#)
            try await edit(cache, #"{"notes":"mine"}"#, offset: .seconds(offset))
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","updated_at":"\#(time(server))"}]"#)
            let conflict = try #require(try conflicts(cache).first)
            #expect(conflict["winner"]?.string == winner, "server \(server) s later, offset \(offset) s")
            #expect(conflict["base"] == "n" && conflict["local"] == "mine" && conflict["server"] == "theirs")
            #expect(conflict["rule"] == "last_write_wins")
            #expect(try cache.record("orders", "a")?["notes"]?.string == (winner == "local" ? "mine" : "theirs"))
            #expect(try cache.store.pendingCount().pending == (winner == "local" ? 1 : 0))
        }
    }

    @Test("change times without zone are those of the upstream's clock, which since names", arguments: [-8, 5])
    func upstreamClock(_ hours: Int) async throws {
        let offset = hours < 0 ? "-08:00" : "+05:00"
        let form = "since: { param: since, field: updated_at, format: \"yyyy-MM-dd HH:mm:ss[\(offset)]\" }"
        let schema = TestCache.shop.replacing("since: { param: since, field: updated_at }", with: form)
        for (server, winner) in [(60, "server"), (-60, "local")] {
            let cache = try TestCache(schema: schema)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
            try await edit(cache, #"{"notes":"mine"}"#)
            let stamp = time(server + hours * 3600).prefix(19)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","updated_at":"\#(stamp)"}]"#)
            #expect(try conflicts(cache).first?["winner"]?.string == winner)
        }
    }

    @Test("a page of large conflicts, and of a history with them, ends early; the pages together have them all")
    func largeValues() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        let text = String(repeating: "x", count: 1 << 20)
        for number in 0..<4 {
            try await edit(cache, "{\"notes\":\"mine \(number) \(text)\"}")
            let record = "{\"id\":\"a\",\"notes\":\"theirs \(number) \(text)\",\"updated_at\":\"\(time(60 + number))\"}"
            _ = try await cache.pull("orders", "[\(record)]")
        }
        var (found, before): ([Int], Int64?) = ([], nil)
        repeat {
            let page = try cache.store.conflicts(before: before, open: false, limit: 100)
            #expect(page.conflicts.count < 4)
            found += page.conflicts.compactMap { $0["id"]?.integer }
            before = page.next
        } while before != nil
        #expect(found.count == 4 && found == found.sorted(by: >))
        let whole = try cache.store.history(of: "orders", key: "a", after: 0, limit: 100)
        let next = try #require(whole.next)
        let rest = try cache.store.history(of: "orders", key: "a", after: next, limit: 1)
        #expect(rest.entries.first?["seq"]?.integer ?? 0 > Int(next))
    }

    @Test("a conflict is resolved once, however often the page comes")
    func once() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#, "local_wins")
        try await edit(cache, #"{"notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs"}]"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
        #expect(try conflicts(cache).count == 1)
    }

    @Test("only the field that lost is dropped; the rest of the change is still sent")
    func partial() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "server_wins")
        try await edit(cache, #"{"notes":"mine","total":2}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
        #expect(try ready(cache) == [#"{"total":2}"#])
        #expect(try cache.record("orders", "a")?["notes"] == "theirs")
    }

    @Test("a change whose body differs from the one attempted gets a new idempotency key")
    func newKey() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "server_wins")
        try await edit(cache, #"{"notes":"mine","total":2}"#)
        let change = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
        #expect(try conflicts(cache).isEmpty, "nothing is decided while it is being sent")
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        let again = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(again.body.text == #"{"total":2}"#)
        #expect(again.idempotencyKey != change.idempotencyKey)
    }

    @Test("the rest of a change whose first attempt arrived is not sent again under another idempotency key")
    func partlyArrived() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "server_wins")
        try await edit(cache, #"{"notes":"mine","total":2}"#)
        let change = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        // It arrived, and another user has overwritten part of it since.
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":2}]"#)
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try cache.record("orders", "a")?["total"] == 2)
    }

    @Test("a value set by an earlier local change is no conflict for a later one")
    func ownEarlierChange() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#, "server_wins")
        try await edit(cache, #"{"notes":"first"}"#)
        let change = try await cache.begun()
        try await edit(cache, #"{"notes":"second"}"#)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"first"}]"#)
        #expect(try conflicts(cache).isEmpty)
        _ = try await cache.store.begin(change, at: now)
        try await cache.store.finish(
            change.id, .acknowledged(record: JSONText(parsing: #"{"id":"a","notes":"first"}"#)), at: now)
        #expect(try conflicts(cache).isEmpty)
        #expect(try ready(cache) == [#"{"notes":"second"}"#])
    }

    @Test("a manual conflict holds the change until a user decides")
    func manual() async throws {
        for winner in [Conflict.Side.local, .server] {
            let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "manual")
            try await edit(cache, #"{"notes":"mine","total":2}"#)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
            #expect(try ready(cache).isEmpty)
            #expect(try cache.record("orders", "a")?["notes"] == "mine")
            #expect(try cache.record("orders", "a")?.at(path: "_sync.state") == "conflict")
            #expect(try cache.store.summary().openConflicts == 1)
            #expect(try cache.keys(ListQuery(entity: "orders", sync: .conflict)) == ["a"])
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs, later","total":1}]"#)
            #expect(try conflicts(cache, open: true).map { $0["server"] } == ["theirs, later"])
            try await cache.store.resolve(id(conflicts(cache).first), for: winner, at: now)
            #expect(try cache.store.summary().openConflicts == 0)
            let expected = winner == .local ? #"{"notes":"mine","total":2}"# : #"{"total":2}"#
            #expect(try ready(cache) == [expected])
        }
    }

    @Test("undoing queues the other choice, once")
    func undo() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#, "server_wins")
        try await edit(cache, #"{"notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs"}]"#)
        let conflict = try id(conflicts(cache).first)
        try await cache.store.undo(conflict, at: now)
        #expect(try ready(cache) == [#"{"notes":"mine"}"#])
        await #expect(throws: CacheError.self) { try await cache.store.undo(conflict, at: now) }
    }

    // MARK: Deletions

    @Test("edited locally, deleted on the server: the deletion wins; undoing it creates the record again")
    func deletedThere() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","total":1,"status":null}"#)
        try await edit(cache, #"{"notes":"mine"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        #expect(try cache.record("orders", "a") == nil)
        #expect(try cache.store.pendingCount().pending == 0)
        let conflict = try #require(try conflicts(cache).first)
        #expect(conflict["winner"] == "server" && conflict["server"] == JSONText.null)
        try await cache.store.undo(id(conflict), at: now)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(change.operation == .create && change.body["total"] == 1)
        #expect(change.body["status"] == nil, "what the record did not have is not sent")
    }

    @Test("edited locally, deleted on the server, local wins: the record is created again")
    func recreated() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "local_wins")
        try await edit(cache, #"{"notes":"mine"}"#)
        let change = try await cache.begun()
        let failure = PushFailure(.gone, status: 404, message: "no such order")
        try await cache.store.finish(change.id, .gone(failure), at: now)
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(creation.operation == .create && creation.body.text == #"{"id":"a","notes":"mine","total":1}"#)
        #expect(creation.idempotencyKey != change.idempotencyKey && !creation.isTried)
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
    }

    @Test("edited locally, deleted on the server, manual: the record stays visible until a user decides")
    func manualDeletion() async throws {
        for winner in [Conflict.Side.local, .server] {
            let cache = try await cache(#"{"id":"a","notes":"n","total":1}"#, "manual")
            try await edit(cache, #"{"notes":"mine"}"#)
            _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
            #expect(try cache.record("orders", "a")?["total"] == 1)
            #expect(try ready(cache).isEmpty)
            try await cache.store.resolve(id(conflicts(cache).first), for: winner, at: now)
            #expect(try (cache.record("orders", "a") != nil) == (winner == .local))
            #expect(
                try cache.store.readyChanges(limit: 9, at: now).map(\.operation) == (winner == .local ? [.create] : []))
        }
    }

    @Test("deleted locally, edited on the server: the later wins")
    func deletedHere() async throws {
        for (server, winner) in [(60, "server"), (-60, "local")] {
            let cache = try await cache(#"{"id":"a","notes":"n"}"#)
            try await cache.store.delete("orders", key: "a", at: now)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","updated_at":"\#(time(server))"}]"#)
            #expect(try conflicts(cache).map { $0["winner"]?.string } == [winner])
            #expect(try (cache.record("orders", "a") == nil) == (winner == "local"))
            #expect(try cache.store.pendingCount().pending == (winner == "local" ? 1 : 0))
        }
    }

    @Test("deleted locally after an edit in flight: only other users' changes in the meantime count")
    func deletedBehindOwnEdit() async throws {
        for (total, isConflict) in [(1, false), (2, true)] {
            let cache = try await cache(#"{"id":"a","notes":"n","total":1,"updated_at":"\#(time(-60))"}"#)
            try await edit(cache, #"{"notes":"mine"}"#)
            let edit = try await cache.begun()
            try await cache.store.delete("orders", key: "a", at: now)
            let answer = #"{"id":"a","notes":"mine","total":\#(total),"updated_at":"\#(time(60))"}"#
            try await cache.store.finish(edit.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
            #expect(try conflicts(cache).isEmpty != isConflict)
            let queue = try cache.store.readyChanges(limit: 9, at: now)
            #expect(queue.map(\.operation) == (isConflict ? [] : [.delete]))
        }
    }

    @Test("deleted locally after an edit in flight that a page shows before its response: the edit is ours")
    func deletedBehindOwnEditOnPage() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","updated_at":"\#(time(-60))"}"#)
        try await edit(cache, #"{"notes":"mine"}"#)
        _ = try await cache.begun()
        try await cache.store.delete("orders", key: "a", at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"mine","updated_at":"\#(time(60))"}]"#)
        #expect(try conflicts(cache).isEmpty)
        #expect(try cache.record("orders", "a") == nil)
        #expect(try cache.store.pendingCount().pending == 2)
    }

    @Test("deleted on both sides: nothing to decide and nothing to send")
    func deletedBoth() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await cache.store.delete("orders", key: "a", at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try conflicts(cache).isEmpty)
        #expect(try cache.store.rowCounts()["orders"] == 0)
    }

    @Test("a deletion is no conflict because a child has changed since, which only its own time shows")
    func touched() async throws {
        let schema = TestCache.shop.replacing("when_changed: updated_at", with: "when_changed: created_at")
        let cache = try TestCache(schema: schema.replacing("  orders:\n", with: "  orders:\n    conflict: manual\n"))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","created_at":"\#(time(0))"}]"#)
        try await cache.store.delete("orders", key: "a", at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","created_at":"\#(time(60))"}]"#)
        #expect(try conflicts(cache).isEmpty)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","created_at":"\#(time(90))"}]"#)
        #expect(try conflicts(cache).count == 1)
    }

    @Test("a page requested before a deletion was acknowledged does not bring the record back")
    func stalePage() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        let before = try cache.store.position()
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.send(answer: nil)
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n"}]"#, position: before), at: now)
        #expect(try cache.record("orders", "a") == nil)
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n"}]"#, position: cache.store.position()),
            at: now + .seconds(3601))
        #expect(try cache.record("orders", "a") != nil, "after an hour no list can be that late")
    }

    @Test("a server deletion seen while a change is in flight is resolved with the outcome, or at the next start")
    func deletedWhileUploading() async throws {
        let lost = PushFailure(.timeout, message: "no answer")
        for outcome: PushOutcome? in [
            .waiting(lost, at: now, counted: true), .failed(lost), nil,
            .acknowledged(record: .object(["id": "a", "notes": "mine"])),
        ] {
            let cache = try await cache(#"{"id":"a","notes":"n"}"#)
            try await edit(cache, #"{"notes":"mine"}"#)
            let change = try await cache.begun()
            _ = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-11-21T00:00:00Z"}]"#)
            #expect(try cache.record("orders", "a")?["notes"] == "mine")
            if let outcome { try await cache.store.finish(change.id, outcome, at: now) }
            if outcome == nil { _ = try await cache.store.recoverInterrupted(at: now, longest: { _ in .zero }) }
            #expect(try cache.record("orders", "a") == nil)
            #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        }
    }

    @Test("a change with an open conflict is blocked, and changes waiting for it name it")
    func blocked() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#, "manual")
        try await edit(cache, #"{"notes":"mine"}"#)
        let change = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs"}]"#)
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        try await cache.store.delete("orders", key: "a", at: now)
        let changes = try cache.store.pending(PendingQuery(limit: 9)).changes
        #expect(changes.map { $0["state"] } == ["blocked", "blocked"])
        #expect(changes.map { $0["conflict"] } == [1, JSONText.null])
        #expect(changes.map { $0["blocked_by"] } == [JSONText.null, .integer(Int(change.id))])
    }

    @Test("a field with a source path is compared at that path of the server's record")
    func source() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing(
                "notes: { type: string }", with: "notes: { type: string, from: remarks.text }"))
        _ = try await cache.pull("orders", #"[{"id":"a","remarks":{"text":"n"}}]"#)
        try await edit(cache, #"{"notes":"mine"}"#)
        let time = time(60)
        _ = try await cache.pull("orders", #"[{"id":"a","remarks":{"text":"theirs"},"updated_at":"\#(time)"}]"#)
        let conflict = try #require(try conflicts(cache).first)
        #expect(conflict["base"] == "n" && conflict["server"] == "theirs" && conflict["winner"] == "server")
        let list = try cache.store.list(ListQuery(entity: "orders", fields: ["notes"]))
        #expect(try JSONText(list.records).elements.first?["notes"] == "theirs")
    }
}
