import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// What an answer, and the pages after it, say about a change that was acknowledged.
@Suite("Settling: what an acknowledgement shows")
struct AcknowledgementTests {
    private let now = TestCache.now

    private func cache(_ record: String = #"{"id":"a","notes":"A"}"#) async throws -> TestCache {
        try await .with(orders: "[\(record)]", conflict: "manual")
    }

    private func pull(
        _ cache: TestCache, _ records: String, after seconds: Int = 1, view: RecordView = .list
    ) async throws {
        let page = PulledPage(entity: "orders", records: records, view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    private func notes(_ cache: TestCache) throws -> String? { try cache.record("orders", "a")?["notes"]?.string }

    @Test("an older answer without the edited field does not show that another person's edit came after it")
    func silentAnswer() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","updated_at":"2026-03-01T10:00:01Z"}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        try await pull(cache, #"[{"id":"a","notes":"C","updated_at":"2026-03-01T10:00:03Z"}]"#)
        let answer = try JSONText(parsing: #"{"id":"a","updated_at":"2026-03-01T10:00:02Z"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        #expect(try notes(cache) == "B")
        let unconfirmed = try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key)
        #expect(unconfirmed == ["a"], "the upstream is asked which came last")
    }

    @Test("an answer with the change time and a value from before the edit shows no other field of it either")
    func versionBefore() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","total":1,"updated_at":"2026-03-01T10:00:01Z"}"#)
        try await cache.change("orders", "a", #"{"notes":"B","total":2}"#)
        let change = try await cache.begun()
        // Lists do not show that the total was erased.
        let answer = try JSONText(parsing: #"{"id":"a","notes":"A","total":null,"updated_at":"2026-03-01T10:00:01Z"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        #expect(try notes(cache) == "B")
        #expect(try cache.record("orders", "a")?["total"] == 2)
    }

    @Test("a read that is behind takes away nothing that the list lacks")
    func olderRead() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","updated_at":"2026-03-01T10:00:02Z"}"#)
        let whole = #"{"id":"a","notes":"A","size":1,"updated_at":"2026-03-01T10:00:02Z"}"#
        try await pull(cache, "[\(whole)]", view: .single)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","notes":"0","size":0,"updated_at":"2026-03-01T10:00:01Z"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer, view: .single), at: now)
        let remote = try cache.store.remote(of: "orders", key: "a")
        #expect(remote?.text == #"{"id":"a","notes":"B","size":1,"updated_at":"2026-03-01T10:00:02Z"}"#)
    }

    @Test("an answer that another person's later edit has overtaken changes nothing")
    func overtaken() async throws {
        func version(_ notes: String, _ second: Int) -> String {
            #"{"id":"a","notes":"\#(notes)","updated_at":"2026-03-01T10:00:0\#(second)Z"}"#
        }
        let cache = try await cache(version("A", 1))
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        try await pull(cache, "[\(version("C", 3))]")
        try await cache.store.finish(change.id, .acknowledged(record: JSONText(parsing: version("B", 2))), at: now)
        #expect(try cache.store.remote(of: "orders", key: "a")?.text == version("C", 3))
        for stale in [version("A", 1), version("B", 2)] { try await pull(cache, "[\(stale)]", after: 5) }
        #expect(try notes(cache) == "C")
        try await pull(cache, "[\(version("A", 4))]", after: 6)
        #expect(try notes(cache) == "A")
        #expect(try cache.conflictCount() == 0)
    }

    @Test(
        "a record that was read after an answer with the edit, and is later than that, is the truth",
        arguments: [true, false])
    func overtakenBeforeItWasRead(wasPulled: Bool) async throws {
        let version = #"{"id":"a","notes":"A","updated_at":"2026-03-01T10:00:01Z"}"#
        let later = version.replacing("01Z", with: "03Z")
        let cache = try await cache(version)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        if wasPulled { try await pull(cache, "[\(later)]") }
        let appliedAt = Timestamp(iso8601: "2026-03-01T10:00:02Z")
        let outcome = try PushOutcome.acknowledged(
            record: JSONText(parsing: later), view: .single, appliedAt: appliedAt)
        try await cache.store.finish(change.id, outcome, at: now)
        #expect(try cache.store.remote(of: "orders", key: "a")?.text == later)
        try await pull(cache, "[\(version.replacing(#""A""#, with: #""B""#).replacing("01Z", with: "02Z"))]", after: 5)
        #expect(try notes(cache) == "A")
        #expect(try cache.conflictCount() == 0)
    }

    @Test(
        "another person's edit that is read with the answer to one here meets the next one here", arguments: ["A", "D"])
    func overtakenBeforeTheNext(theirs: String) async throws {
        let version = #"{"id":"a","notes":"A","updated_at":"2026-03-01T10:00:01Z"}"#
        let cache = try await cache(version)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        try await cache.change("orders", "a", #"{"notes":"C"}"#)
        let later = version.replacing(#""A""#, with: "\"\(theirs)\"").replacing("01Z", with: "03Z")
        let appliedAt = Timestamp(iso8601: "2026-03-01T10:00:02Z")
        let outcome = try PushOutcome.acknowledged(
            record: JSONText(parsing: later), view: .single, appliedAt: appliedAt)
        try await cache.store.finish(change.id, outcome, at: now)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("an answer with another key that lacks the edit renames nothing")
    func anotherKey() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"z"}"#)
        #expect(try notes(cache) == "B")
        #expect(try cache.record("orders", "z") == nil)
    }

    @Test("what was sent stays although the record's own address lacks it, until the time is over")
    func notShown() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"status":"open"}"#)
        try await cache.send(answer: nil)
        for (second, status) in [(1, "open"), (61, nil)] as [(Int, String?)] {
            try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: second, view: .single)
            #expect(try cache.record("orders", "a")?["status"]?.string == status)
        }
    }

    @Test("a record that is made again under its key is not the deleted one that a server shows which is behind")
    func madeAgain() async throws {
        let old = #"{"id":"a","notes":"A","updated_at":"2026-03-01T10:00:01Z"}"#
        let cache = try await cache(old)
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.send(answer: nil)
        _ = try await cache.make("orders", #"{"id":"a","notes":"B"}"#)
        try await cache.send(answer: old)
        #expect(try notes(cache) == "B")
        try await pull(cache, "[\(old)]")
        #expect(try notes(cache) == "B")
        try await pull(cache, #"[{"id":"a","notes":"C","updated_at":"2026-03-01T10:00:05Z"}]"#, after: 2)
        #expect(try notes(cache) == "C")
    }

    @Test("an edit of a new record does not flicker back to what the creation had sent")
    func editOfNewRecord() async throws {
        let cache = try await cache()
        _ = try await cache.make("orders", #"{"id":"x","notes":"first"}"#)
        try await cache.send(answer: #"{"id":"x","notes":"first"}"#)
        try await cache.change("orders", "x", #"{"notes":"second"}"#)
        try await cache.send(answer: #"{"id":"x","notes":"second"}"#)
        try await pull(cache, #"[{"id":"x","notes":"first"}]"#, after: 5)
        #expect(try cache.record("orders", "x")?["notes"] == "second")
    }

    @Test("a page that was requested right after the acknowledgement counts")
    func requestedAfter() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B"}"#)
        let page = PulledPage(
            entity: "orders", records: #"[{"id":"a","notes":"theirs"}]"#, position: try cache.store.position())
        _ = try await cache.store.apply(page, at: now + .seconds(1))
        #expect(try notes(cache) == "theirs")
    }
}
