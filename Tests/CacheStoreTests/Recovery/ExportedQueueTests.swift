import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Moving the queue to another machine")
struct ExportedQueueTests {
    /// The fixture's queue as the file that another machine gets.
    private func exported(_ fixture: RescueFixture) throws -> ExportedQueue {
        try ExportedQueue(text: ExportedQueue(ofDatabaseAt: fixture.path).text())
    }

    @Test("an import has everything: order, ids, idempotency keys, records created offline")
    func roundTrip() async throws {
        let fixture = try await RescueFixture()
        let other = try TestCache()
        let count = try await other.store.take(exported(fixture), at: RescueFixture.later)
        #expect(count == ExportedCount(added: 3, known: 0))
        #expect(try RescueFixture.queue(other.store).map(\.key) == fixture.queue().map(\.key))
        #expect(try RescueFixture.queue(other.store).map(\.id) == [1, 2, 3])
        #expect(try other.record("orders", "a")?["status"]?.string == "ready")
        #expect(try other.store.readyChanges(limit: 9, at: RescueFixture.now).map(\.entity) == ["orders", "orders"])
        #expect(try other.store.rowCounts()["messages"] == 1)
    }

    @Test("an exported change has all that the queue keeps of it")
    func columns() async throws {
        let fixture = try await RescueFixture()
        let columns = try fixture.cache.store.snapshot { try $0.columns(in: "sync_outbox").map(\.name) }
        #expect(columns.filter { ExportedChange.CodingKeys(stringValue: $0) == nil } == [])
    }

    @Test("importing twice changes nothing, even after the changes have left the queue")
    func twice() async throws {
        let fixture = try await RescueFixture()
        let queue = try exported(fixture)
        let other = try TestCache()
        _ = try await other.store.take(queue, at: RescueFixture.later)
        let change = try #require(try other.store.readyChanges(limit: 1, at: RescueFixture.now).first)
        #expect(try await other.store.begin(change, at: RescueFixture.now))
        try await other.store.finish(change.id, .acknowledged(record: nil), at: RescueFixture.now)
        let again = try await other.store.take(queue, at: RescueFixture.later)
        #expect(again == ExportedCount(added: 0, known: 3))
        #expect(try other.store.pendingCount().pending == 2)
    }

    @Test("importing where the file was exported changes nothing, even for changes acknowledged since")
    func home() async throws {
        let fixture = try await RescueFixture()
        let queue = try exported(fixture)
        try await fixture.sendFirst()
        let again = try await fixture.cache.store.take(queue, at: RescueFixture.later)
        #expect(again == ExportedCount(added: 0, known: 3))
        #expect(try fixture.queue().count == 2)
    }

    @Test("a list that is behind what the other machine knew is no edit by others")
    func behind() async throws {
        let yaml = TestCache.shop.replacing(
            "    sort: -created_at", with: "    sort: -created_at\n    conflict: server_wins")
        let first = #"[{"id":"a","notes":"first","updated_at":"2026-01-01T00:00:00Z"}]"#
        let (cache, other) = (try TestCache(schema: yaml), try TestCache(schema: yaml))
        _ = try await other.pull("orders", first)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"second","updated_at":"2026-01-02T00:00:00Z"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        let queue = try ExportedQueue(text: ExportedQueue(ofDatabaseAt: cache.path).text())
        _ = try await other.store.take(queue, at: TestCache.now)
        _ = try await other.pull("orders", first)
        #expect(try other.record("orders", "a")?["notes"] == "mine")
        #expect(try other.conflictCount() == 0)
        _ = try await other.pull("orders", #"[{"id":"a","notes":"theirs","updated_at":"2026-01-03T00:00:00Z"}]"#)
        #expect(try other.record("orders", "a")?["notes"] == "theirs")
    }

    @Test("a machine with its own queue assigns new ids, in the same order, and keeps its changes")
    func joined() async throws {
        let fixture = try await RescueFixture()
        let other = try TestCache()
        _ = try await other.pull("orders", #"[{"id":"b"}]"#)
        try await other.store.update("orders", key: "b", body: .object(["notes": "mine"]), at: RescueFixture.now)
        _ = try await other.store.take(exported(fixture), at: RescueFixture.later)
        let queue = try RescueFixture.queue(other.store)
        #expect(queue.map(\.id) == [1, 2, 3, 4])
        #expect(try queue.dropFirst().map(\.key) == fixture.queue().map(\.key))
    }

    @Test("an attempt made before the export still counts, under its key")
    func tried() async throws {
        let fixture = try await RescueFixture()
        let change = try await fixture.cache.begun()
        let other = try TestCache()
        _ = try await other.store.take(exported(fixture), at: RescueFixture.later)
        let carried = try #require(try other.store.readyChanges(limit: 1, at: RescueFixture.now).first)
        #expect(carried.idempotencyKey == change.idempotencyKey && carried.tried == 1)
    }

    @Test("the log has the imported changes before what merging them found")
    func logged() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"old"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "mine"]), at: RescueFixture.now)
        let other = try TestCache()
        _ = try await other.pull("orders", #"[{"id":"a","notes":"theirs"}]"#)
        _ = try await other.store.take(ExportedQueue(ofDatabaseAt: cache.path), at: RescueFixture.later)
        #expect(
            try other.store.changes(since: 0, limit: 10).events.map(\.kind) == ["upserted", "queued", "conflict"])
        #expect(try other.record("orders", "a")?["notes"] == "mine")
    }

    @Test("an imported creation waits for the imported one that has the same value")
    func waitsFor() async throws {
        let schema = TestCache.shop.replacing("notes: { type: string }", with: "notes: { type: string, index: true }")
            .replacing("text: { type: string,", with: "text: { type: string, waits_for: orders.notes,")
        let (cache, other) = (try TestCache(schema: schema), try TestCache(schema: schema))
        for cache in [cache, other] { _ = try await cache.pull("orders", #"[{"id":"a","notes":"known"}]"#) }
        _ = try await cache.store.create("orders", body: .object(["notes": "x"]), at: RescueFixture.now)
        let message = JSONText.object(["order_id": "a", "text": "x"])
        _ = try await cache.store.create("messages", body: message, at: RescueFixture.now)
        _ = try await other.store.take(ExportedQueue(ofDatabaseAt: cache.path), at: RescueFixture.later)
        #expect(try other.store.readyChanges(limit: 9, at: RescueFixture.now).map(\.entity) == ["orders"])
    }

    @Test("changes of entities that the schema did not have are shown, and keep their order, once it has them")
    func late() async throws {
        let fixture = try await RescueFixture()
        let other = try TestCache()
        _ = try await other.pull("orders", #"[{"id":"a","status":"open","total":1},{"id":"b","status":"open"}]"#)
        let without = try other.reopened(
            schema: TestCache.shop.replacing("orders", with: "jobs").replacing("messages", with: "texts"))
        _ = try await without.store.take(exported(fixture), at: RescueFixture.later)
        let cache = try without.reopened()
        #expect(try cache.record("orders", "a")?["status"] == "ready")
        #expect(try cache.store.rowCounts()["messages"] == 1)
        #expect(try cache.store.readyChanges(limit: 9, at: RescueFixture.later).map(\.entity) == ["orders", "orders"])
        try await cache.store.update("orders", key: "a", body: .object(["notes": "later"]), at: RescueFixture.later)
        #expect(try cache.store.pendingCount().pending == 3, "the edit joins the change before it")
    }

    @Test("a change is known by its key, or by its id, time and entity")
    func known() async throws {
        let changes = try await exported(RescueFixture()).changes
        let known = KnownChanges(changes)
        #expect(changes.map(known.index) == [0, 1, 2])
        var other = changes[1]
        other.idempotencyKey = "another"
        #expect(known.index(of: other) == 1)
        other.createdAt += 1
        #expect(known.index(of: other) == nil)
    }

    @Test("secrets stay sealed in the file, and need their key")
    func secrets() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["passcode": "CANARY"]), at: RescueFixture.now)
        let text = try ExportedQueue(ofDatabaseAt: cache.path).text()
        #expect(!text.contains("CANARY"))
        let same = try TestCache()
        _ = try await same.store.take(ExportedQueue(text: text), at: RescueFixture.later)
        let change = try #require(try same.store.readyChanges(limit: 1, at: RescueFixture.now).first)
        #expect(change.body["passcode"]?.string == "CANARY")
        let other = try TestCache(key: 2)
        await #expect(throws: CacheError.self) {
            try await other.store.take(ExportedQueue(text: text), at: RescueFixture.later)
        }
        #expect(try other.store.pendingCount().pending == 0)
    }

    @Test("a secret that was copied to another field in the file is neither shown nor sent, whatever the file says")
    func moved() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["passcode": "CANARY"]), at: RescueFixture.now)
        var queue = try ExportedQueue(ofDatabaseAt: cache.path)
        let known = try #require(queue.origin.settings["secrets:orders"])
        queue.origin.settings["secrets:orders"] = String(known.dropLast()) + #",["notes","orders","passcode"]]"#
        queue.changes[0].body = queue.changes[0].body.replacing("passcode", with: "notes")
        let other = try TestCache()
        _ = try await other.store.take(queue, at: RescueFixture.later)
        #expect(try other.record("orders", "a")?.text.contains("CANARY") == false)
        #expect(try other.store.readyChanges(limit: 1, at: RescueFixture.now).isEmpty)
        #expect(try other.store.pendingChange(1)["error"]?["class"] == "sealed")
    }

    private static let wrongValues: [(name: String, value: JSONText)] = [
        ("id", .integer(.max)), ("id", .integer(0)), ("attempt_count", .integer(.max)), ("tried", .integer(.max)),
        ("tried", .integer(-1)), ("created_at", .integer(.max)), ("last_attempt_at", .integer(.min)),
        ("next_attempt_at", .integer(.max)), ("error_status", .integer(.min)), ("known_pk", .integer(.max)),
        ("content_size", .integer(-1)), ("edited", .string(#"{"status":9223372036854775807}"#)),
        ("conflicts", .array([JSONText.object(["at": .integer(.max), "change_id": .integer(1), "rule": "manual"])])),
        (
            "conflicts",
            .array([JSONText.object(["at": .integer(1), "change_id": .integer(1), "base": "{", "rule": "manual"])])
        ),
        ("first_attempt_at", .integer(.max)), ("sent", "["), ("latest", "{"),
        ("record", "{"), ("content", "../api-token"), ("content", "..secret"), ("content", "../../../../etc/passwd"),
        ("content", .string(String(repeating: "A", count: 64))), ("content_type", "text/html\r\nSet-Cookie: a=b"),
        ("idempotency_key", "a\r\nX-Admin: 1"), ("idempotency_key", "a\u{0}"), ("idempotency_key", "\u{7F}"),
    ]

    @Test("a value that no queue has is refused, and the error names it", arguments: wrongValues)
    func values(name: String, value: JSONText) async throws {
        let fixture = try await RescueFixture()
        let lines = try ExportedQueue(ofDatabaseAt: fixture.path).text().split(separator: "\n").map(String.init)
        let wrong = try JSONText(parsing: lines[1]).setting(name, to: value)
        let error = #expect(throws: CacheError.self) { try ExportedQueue(text: "\(lines[0])\n\(wrong.text)\n") }
        #expect(error?.problems?.map(\.field) == ["line 2"])
        #expect(error?.problems?.allSatisfy { $0.message.hasPrefix(name) } == true)
    }

    @Test("a value that is too long for a database is refused")
    func longValue() async throws {
        let fixture = try await RescueFixture()
        var queue = try ExportedQueue(ofDatabaseAt: fixture.path)
        #expect(queue.changes[0].problem == nil)
        queue.changes[0].errorMessage = String(repeating: "a", count: (32 << 20) + 1)
        #expect(queue.changes[0].problem == "a value has more than 32 MiB")
    }

    @Test("a value that would take minutes to compare is refused", arguments: ["\u{301}", #"\u0301"#])
    func marks(mark: String) async throws {
        let fixture = try await RescueFixture()
        var queue = try ExportedQueue(ofDatabaseAt: fixture.path)
        func body(_ count: Int) -> String { #"{"notes":"a\#(String(repeating: mark, count: count))"}"# }
        queue.changes[0].body = body(MarkRun.longestStored)
        #expect(queue.changes[0].problem == nil)
        queue.changes[0].body = body(MarkRun.longestStored + 1)
        #expect(queue.changes[0].problem == "a value has more than 1024 combining marks in a row")
    }

    @Test("a list of sealed fields that cannot be read is refused by its line", arguments: ["[", "[[1]]"])
    func sealedFields(list: String) async throws {
        let fixture = try await RescueFixture()
        var queue = try ExportedQueue(ofDatabaseAt: fixture.path)
        queue.origin.settings["secrets:orders"] = list
        let text = try queue.text()
        let error = #expect(throws: CacheError.self) { try ExportedQueue(text: text) }
        #expect(error?.problems?.map(\.field) == ["line 1"])
    }

    @Test("a mirror's change with a value that no queue has is refused")
    func mirroredValues() async throws {
        let fixture = try await RescueFixture()
        let change = try #require(try exported(fixture).changes.first)
        var tried = change
        tried.tried = .max
        var named = change
        named.content = "../api-token"
        var keyed = change
        keyed.idempotencyKey += "\r\nX-Admin: 1"
        var torn = change
        torn.record = "{"
        let other = try TestCache()
        for wrong in [tried, named, keyed, torn] {
            await #expect(throws: CacheError.self) {
                try await other.store.importChanges([wrong], at: RescueFixture.later)
            }
        }
        #expect(try other.store.pendingCount().pending == 0)
    }

    @Test("a change that removes content has an empty name for it, and is taken")
    func removedContent() async throws {
        let fixture = try await RescueFixture()
        let lines = try ExportedQueue(ofDatabaseAt: fixture.path).text().split(separator: "\n").map(String.init)
        let removal = try JSONText(parsing: lines[1]).setting("content", to: "")
        #expect(try ExportedQueue(text: "\(lines[0])\n\(removal.text)\n").changes.map(\.content) == [""])
    }

    @Test(
        "a file of another kind is refused, and the error names the line",
        arguments: ["", "{}", "no", #"{"repairminder_sync_queue":2}"#])
    func garbage(text: String) {
        #expect(throws: CacheError.self) { try ExportedQueue(text: text) }
    }
}
