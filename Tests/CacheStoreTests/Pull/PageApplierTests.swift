import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Applying pages")
struct PageApplierTests {
    @Test("a record is served byte for byte, with its sync state added")
    func keepsText() async throws {
        let cache = try TestCache()
        let record =
            #"{"id":"a","total":129.90,"odd":1e-400,"n":123456789012345678901234567890,"x":"\u00e9","status":"new"}"#
        _ = try await cache.pull("orders", "[\(record)]")
        let text = try #require(try cache.record("orders", "a")).text
        #expect(text.hasPrefix(String(record.dropLast())))
        #expect(
            text.hasSuffix(
                #","_sync":{"state":"synced","pending_fields":[],"synced_at":"2026-11-21T10:42:00.000Z","error":null}}"#
            ))
    }

    @Test("a page without changes writes nothing")
    func idempotent() async throws {
        let cache = try TestCache()
        let page = #"[{"id":"a","total":1.50},{"id":"b","total":2}]"#
        #expect(try await cache.pull("orders", page).written == 2)
        let again = try await cache.pull("orders", page)
        #expect(again == PageOutcome(records: 2, hadBefore: 2))
        #expect(try cache.store.rowCounts()["orders"] == 2)
    }

    @Test("records without a usable key are set aside and the others stored")
    func setsAside() async throws {
        let cache = try TestCache()
        let page =
            #"[{"id":"a"},{"total":1},{"id":null},{"id":""},{"id":true},{"id":"x\u0000y"},7,null,"s","#
            + #"{"id":5},{"id":"."},{"id":".."},{"id":1.5}]"#
        let outcome = try await cache.pull("orders", page)
        #expect(outcome.setAside == 11)
        #expect(outcome.written == 2)
        #expect(try cache.record("orders", "5") != nil)
    }

    @Test("keys with half of a surrogate pair are set aside, because nothing can tell them apart")
    func loneSurrogates() async throws {
        let cache = try TestCache()
        let page =
            #"[{"id":"\ud800"},{"id":"\ud801"},{"id":"\udc00\ud800"},{"id":"a\ud800b"},{"id":"\ufffd"},"#
            + #"{"id":"\ud83d\ude00"},{"id":"a\u00e9"}]"#
        let outcome = try await cache.pull("orders", page)
        #expect(outcome.setAside == 4)
        #expect(outcome.written == 3)
        for key in ["\u{FFFD}", "😀", "aé"] { #expect(try cache.record("orders", key) != nil) }
    }

    @Test("a key may have as many characters as the longest key, however many bytes they are", arguments: ["e", "é"])
    func longKeys(_ character: String) async throws {
        let cache = try TestCache()
        let longest = String(repeating: character, count: Entity.longestKey)
        let outcome = try await cache.pull("orders", #"[{"id":"\#(longest)"},{"id":"\#(longest)\#(character)"}]"#)
        #expect(outcome.setAside == 1)
        let number = String(repeating: "7", count: Entity.longestKey)
        #expect(try await cache.pull("orders", "[{\"id\":\(number)},{\"id\":\(number)7}]").setAside == 1)
        #expect(try cache.record("orders", longest) != nil)
    }

    @Test("a record of a mirror is imported if a pull would keep its key, and its texts take no minutes to compare")
    func mirrored() async throws {
        let cache = try TestCache()
        let longest = String(repeating: "é", count: Entity.longestKey)
        let marks = String(repeating: "\u{301}", count: MarkRun.longestStored + 1)
        let page = #"""
            [{"id":"a"},{"id":"\ud800"},{"id":".."},{"id":"\#(longest)"},{"id":"x\u0000y"},{"id":7},
            {"id":"b","notes":"\#(marks)"}]
            """#
        let records = try JSONText(parsing: page).elements
        #expect(try await cache.store.importRecords(records, of: "orders", at: TestCache.now) == 3)
        #expect(try cache.record("orders", longest) != nil)
    }

    @Test("a field without local changes follows the server; a field with local changes stays")
    func merges() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","notes":"old","total":1.00}]"#)
        try await cache.store.update(
            "orders", key: "a", body: JSONText(parsing: #"{"status":"ready"}"#), at: TestCache.now)
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","notes":"new","total":2.50}]"#)
        let record = try #require(try cache.record("orders", "a"))
        #expect(record["status"]?.string == "ready")
        #expect(record["notes"]?.string == "new")
        #expect(record["total"]?.text == "2.50")
        #expect(record.at(path: "_sync.state")?.string == "pending")
        #expect(record.at(path: "_sync.pending_fields")?.text == #"["status"]"#)
    }

    @Test("a tombstone deletes the record and what cascades from it")
    func tombstone() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b","deleted_at":null}]"#)
        _ = try await cache.pull(
            "messages", #"[{"id":"m","order_id":"a","text":"x"},{"id":"n","order_id":"b","text":"y"}]"#)
        let outcome = try await cache.pull("orders", #"[{"id":"a","deleted_at":"2026-01-01"}]"#)
        #expect(outcome.deleted == 1)
        #expect(try cache.record("orders", "a") == nil)
        #expect(try cache.record("messages", "m") == nil)
        #expect(try cache.record("messages", "n") != nil)
        #expect(try cache.store.rowCounts() == ["orders": 1, "messages": 1])
    }

    @Test("#13 a tombstone that comes again deletes no children that came since")
    func tombstoneAgain() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let tombstone = #"[{"id":"a","deleted_at":"2026-01-01"}]"#
        #expect(try await cache.pull("orders", tombstone).deleted == 1)
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"a","text":"x"}]"#)
        #expect(try await cache.pull("orders", tombstone).deleted == 0)
        #expect(try cache.record("messages", "m") != nil)
    }

    @Test("of a tombstone and a record on one page the last counts, as in lists that name each change")
    func tombstoneAndRecord() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"a","text":"x"}]"#)
        let (gone, here) = (#""deleted_at":"2026-01-01""#, #""notes":"back""#)
        let page = "{\"id\":\"a\",\(gone)},{\"id\":\"a\",\(here)},{\"id\":\"b\",\(here)},{\"id\":\"b\",\(gone)}"
        #expect(try await cache.pull("orders", "[\(page)]").deleted == 1)
        #expect(try cache.record("orders", "a")?["notes"] == "back")
        #expect(try cache.record("messages", "m") != nil)
        #expect(try cache.record("orders", "b") == nil)
    }

    @Test("where the versions have change times, the latest counts, as in lists with the newest change first")
    func newestFirst() async throws {
        let cache = try TestCache()
        func version(_ key: String, _ hour: Int, _ more: String) -> String {
            #"{"id":"\#(key)","updated_at":"2026-01-01T0\#(hour):00:00Z",\#(more)}"#
        }
        let gone = #""deleted_at":"x""#
        _ = try await cache.pull("orders", "[\(version("a", 1, #""notes":"n""#)),\(version("b", 1, #""notes":"n""#))]")
        let page = [
            version("a", 3, #""notes":"back""#), version("a", 2, gone), version("b", 3, #""notes":"new""#),
            version("b", 2, #""notes":"old""#),
        ]
        #expect(try await cache.pull("orders", "[\(page.joined(separator: ","))]").deleted == 0)
        #expect(try cache.record("orders", "a")?["notes"] == "back")
        #expect(try cache.record("orders", "b")?["notes"] == "new")
    }

    @Test("#13 a tombstone from before a record was created again does not touch it")
    func staleTombstone() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","updated_at":"2026-01-02T10:00:00.500Z"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: TestCache.now)
        for time in ["2026-01-01T00:00:00Z", "2026-01-02T10:00:00.499Z"] {
            let outcome = try await cache.pull(
                "orders", #"[{"id":"a","deleted_at":"\#(time)","updated_at":"\#(time)"}]"#)
            #expect(outcome.deleted == 0)
        }
        #expect(try cache.record("orders", "a")?["notes"] == "n")
        #expect(try cache.store.pendingCount().pending == 1)
        // Whole seconds may stand for any moment of the second; a day alone says too little.
        for time in ["2026-01-02T10:00:00Z", "2026-01-01"] {
            let other = try TestCache()
            _ = try await other.pull("orders", #"[{"id":"a","updated_at":"2026-01-02T10:00:00.500Z"}]"#)
            #expect(try await other.pull("orders", #"[{"id":"a","deleted_at":"\#(time)"}]"#).deleted == 1)
        }
    }

    @Test("a tombstone in a page that was requested before an acknowledgement is stale")
    func tombstoneBeforeAcknowledgement() async throws {
        let cache = try TestCache()
        let position = try cache.store.position()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a"}"#), at: TestCache.now)
        try await cache.send(answer: #"{"id":"a"}"#)
        let page = PulledPage(entity: "orders", records: #"[{"id":"a","deleted_at":"2026-01-01"}]"#, position: position)
        #expect(try await cache.store.apply(page, at: TestCache.now).deleted == 0)
        #expect(try cache.record("orders", "a") != nil)
    }

    @Test("tombstones beyond the limit delete nothing, and are named")
    func manyTombstones() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        var page = PulledPage(
            entity: "orders",
            records: #"[{"id":"a","deleted_at":true},{"id":"b","deleted_at":true},{"id":"c","deleted_at":true}]"#)
        page.tombstones = 1
        let outcome = try await cache.store.apply(page, at: TestCache.now)
        #expect(outcome.heldTombstones == ["a", "b"])
        #expect(try cache.store.rowCounts()["orders"] == 2)
    }

    @Test("the latest change time is found in any notation")
    func latestChange() async throws {
        let cache = try TestCache()
        let page =
            #"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"},{"id":"b","updated_at":"2026-01-01T01:00:00.5+01:00"},{"id":"c"}]"#
        #expect(try await cache.pull("orders", page).latestChange == "2026-01-01T00:00:00.500Z")
    }

    @Test("an implausible change time is not the latest", arguments: ["2099-01-01", "2026-11-21T10:48:00Z", "soon"])
    func implausible(time: String) async throws {
        let cache = try TestCache()
        let page = #"[{"id":"a","updated_at":"\#(time)"},{"id":"b","updated_at":"2026-01-01T00:00:00Z"}]"#
        #expect(try await cache.pull("orders", page).latestChange == "2026-01-01T00:00:00.000Z")
        #expect(try await cache.pull("orders", #"[{"id":"a","updated_at":"\#(time)"}]"#).latestChange == nil)
    }

    @Test("the word now in a time field is stored, not evaluated")
    func wordNow() async throws {
        let cache = try TestCache()
        #expect(try await cache.pull("orders", #"[{"id":"a","created_at":"now","updated_at":"now"}]"#).written == 1)
    }

    @Test("cursor and page are written together and read back")
    func cursor() async throws {
        let cache = try TestCache()
        var cursor = PullCursor(
            watermark: "2026-01-01T00:00:00.000Z", lastSyncedAt: TestCache.now, lateness: 5, heldDeletions: 3,
            error: "none")
        cursor.pull = PullInProgress(
            kind: .changes, list: .changes, since: "x", position: "3", seen: 1000, started: TestCache.now, began: 7)
        let records = #"[{"id":"a","updated_at":"2026-02-01"}]"#
        let page = PulledPage(entity: "orders", records: records, cursor: cursor)
        _ = try await cache.store.apply(page, at: TestCache.now)
        cursor.pull?.latest = "2026-02-01T00:00:00.000Z"
        cursor.loadedWatermark = cursor.watermark
        #expect(try cache.store.cursor(of: "orders") == cursor)
        #expect(try cache.store.cursor(of: "messages") == PullCursor())
    }

    @Test("a page requested before a change was acknowledged does not undo it")
    func stalePage() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"old"}]"#)
        try await cache.store.update(
            "orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: TestCache.now)
        let position = try cache.store.position()
        let change = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","notes":"mine"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        let stale = PulledPage(entity: "orders", records: #"[{"id":"a","notes":"old"}]"#, position: position)
        _ = try await cache.store.apply(stale, at: TestCache.now)
        #expect(try cache.record("orders", "a")?["notes"]?.string == "mine")
    }

    @Test("parents are listed until their children are fetched for their current value")
    func details() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b"}]"#)
        let parents = try cache.store.parents(of: "orders", after: 0, all: false, limit: 10)
        #expect(parents.map(\.key) == ["a", "b"])
        let fetched = parents.map { PulledPage.Detail(key: $0.key, value: $0.value) }
        let page = PulledPage(entity: "orders", records: "[]", details: fetched)
        _ = try await cache.store.apply(page, at: TestCache.now)
        #expect(try cache.store.parents(of: "orders", after: 0, all: false, limit: 10).isEmpty)
        #expect(try cache.store.parents(of: "orders", after: 0, all: true, limit: 10).count == 2)
        #expect(try cache.store.parents(of: "orders", after: 0, all: true, limit: 10, bytes: 5).map(\.key) == ["a"])
        _ = try await cache.pull("orders", #"[{"id":"a","updated_at":"2026-01-02"}]"#)
        #expect(try cache.store.parents(of: "orders", after: 0, all: false, limit: 10).map(\.key) == ["a"])
    }
}
