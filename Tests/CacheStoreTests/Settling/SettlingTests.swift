import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// What a server shows after a change is the change, or older.
@Suite("Settling: what comes back from our own writes is no news")
struct SettlingTests {
    private let now = TestCache.now

    private func cache(_ record: String = #"{"id":"a","notes":"A"}"#, _ policy: String = "manual") async throws
        -> TestCache
    {
        try await .with(orders: "[\(record)]", conflict: policy)
    }

    private func pull(
        _ cache: TestCache, _ records: String, after seconds: Int = 1, view: RecordView = .list
    ) async throws {
        let page = PulledPage(entity: "orders", records: records, view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    private func notes(_ cache: TestCache) throws -> String? { try cache.record("orders", "a")?["notes"]?.string }

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 100, at: now).map(\.body.text)
    }

    private func unconfirmed(_ cache: TestCache, after seconds: Int) async throws -> [String] {
        try await cache.store.unconfirmed(limit: 10, at: now + .seconds(seconds)).map(\.key)
    }

    @Test("records of one entity that wait to be read do not hold up those of another")
    func entities() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: nil)
        let message = try await cache.make("messages", #"{"order_id":"a","text":"new"}"#)
        try await cache.send(answer: nil)
        let found = try await cache.store.unconfirmed(limit: 1, at: now + .seconds(61)).map(\.key)
        #expect(Set(found) == ["a", message])
    }

    @Test("#7 an acknowledged value does not flicker back", arguments: [RecordView.list, .single])
    func flicker(view: RecordView) async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B"}"#)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, view: view)
        #expect(try notes(cache) == "B")
        try await pull(cache, #"[{"id":"a","notes":"B"}]"#, after: 5, view: view)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: 59, view: view)
        #expect(try notes(cache) == "B")
    }

    @Test(
        "an old answer to a creation does not undo an edit of its record, which a pull brought before",
        arguments: [true, false])
    func editedTwin(hasTimes: Bool) async throws {
        let cache = try await cache()
        func time(_ minute: Int) -> String {
            hasTimes ? #","updated_at":"2026-01-01T00:0\#(minute):00Z""# : ""
        }
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"first"}"#), at: now)
        let creation = try await cache.begun()
        try await pull(cache, #"[{"id":"b","notes":"first"\#(time(1))}]"#)
        try await cache.store.update("orders", key: "b", body: JSONText(parsing: #"{"notes":"second"}"#), at: now)
        try await cache.send(answer: #"{"id":"b","notes":"second"\#(time(2))}"#)
        let old = try JSONText(parsing: #"{"id":"b","notes":"first"\#(time(1))}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: old), at: now)
        #expect(try cache.record("orders", key)?["notes"] == "second")
        try await pull(cache, "[\(old.text)]")
        #expect(try cache.record("orders", "b")?["notes"] == "second")
        try await pull(cache, #"[{"id":"b","notes":"third"\#(time(3))}]"#)
        #expect(try cache.record("orders", "b")?["notes"] == "third")
    }

    @Test("#7 an edit that is answered with the old version loses neither itself nor the next one")
    func oldAnswer() async throws {
        for policy in ["manual", "server_wins", "local_wins", "last_write_wins"] {
            let cache = try await cache(#"{"id":"a","notes":"A"}"#, policy)
            try await cache.change("orders", "a", #"{"notes":"B"}"#)
            let first = try await cache.begun()
            try await cache.change("orders", "a", #"{"notes":"C"}"#)
            let answer = try JSONText(parsing: #"{"id":"a","notes":"A"}"#)
            try await cache.store.finish(first.id, .acknowledged(record: answer), at: now)
            let remote = try cache.store.remote(of: "orders", key: "a")
            #expect(remote?["notes"] == "B", "\(policy): \(remote?.text ?? "nothing")")
            for seen in ["A", "B", "A"] { try await pull(cache, #"[{"id":"a","notes":"\#(seen)"}]"#) }
            #expect(try notes(cache) == "C")
            #expect(try ready(cache) == [#"{"notes":"C"}"#])
            try await cache.send(answer: #"{"id":"a","notes":"B"}"#)
            for seen in ["A", "B", "C", "B", "A"] {
                try await pull(cache, #"[{"id":"a","notes":"\#(seen)"}]"#, after: 2)
                #expect(try notes(cache) == "C", "\(policy): the server shows \(seen)")
            }
            #expect(try cache.conflictCount() == 0, "\(policy)")
        }
    }

    @Test("#7 a version that is older than the acknowledged one is stale as a whole")
    func olderVersion() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","total":1,"updated_at":"2026-01-01T00:00:01Z"}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","total":2,"updated_at":"2026-01-01T00:00:03Z"}"#)
        try await pull(cache, #"[{"id":"a","notes":"X","total":1,"updated_at":"2026-01-01T00:00:02Z"}]"#)
        #expect(try notes(cache) == "B")
        #expect(try cache.record("orders", "a")?["total"] == 2)
        #expect(try await unconfirmed(cache, after: 61).isEmpty)
    }

    @Test("a newer version is news, even if it has the earlier value again")
    func newerVersion() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:01Z"}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","updated_at":"2026-01-01T00:00:03Z"}"#)
        try await pull(cache, #"[{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:04Z"}]"#)
        #expect(try notes(cache) == "A")
    }

    @Test("another person's value is news, even if it came in the same second as ours")
    func sameSecond() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:01Z"}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","updated_at":"2026-01-01T00:00:03Z"}"#)
        try await pull(cache, #"[{"id":"a","notes":"theirs","updated_at":"2026-01-01T00:00:03Z"}]"#)
        #expect(try notes(cache) == "theirs")
    }

    @Test("another person's value is news, and does not flicker either")
    func news() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B"}"#)
        for (seen, shown) in [("theirs", "theirs"), ("B", "theirs"), ("A", "theirs"), ("theirs", "theirs")] {
            try await pull(cache, #"[{"id":"a","notes":"\#(seen)"}]"#)
            #expect(try notes(cache) == shown)
        }
    }

    @Test("a change whose answer was lost does not flicker once a view has shown it")
    func lostAnswer() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let change = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        let shown = #"{"id":"a","notes":"B"}"#
        try await pull(cache, "[\(shown)]", view: .single)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#)
        #expect(try cache.conflictCount() == 0)
        try await cache.send(answer: shown)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: 5)
        #expect(try notes(cache) == "B")
    }

    @Test("an edit made after a page showed the one under way does not conflict with what was before both")
    func shownBeforeItsAnswer() async throws {
        for policy in ["manual", "server_wins", "local_wins", "last_write_wins"] {
            let cache = try await cache(#"{"id":"a","notes":"A"}"#, policy)
            try await cache.change("orders", "a", #"{"notes":"B"}"#)
            _ = try await cache.begun()
            try await pull(cache, #"[{"id":"a","notes":"B"}]"#)
            try await cache.change("orders", "a", #"{"notes":"C"}"#)
            try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: 2)
            #expect(try cache.conflictCount() == 0, "\(policy)")
            #expect(try notes(cache) == "C", "\(policy)")
        }
    }

    @Test("the version of an answer that is behind is not the record's")
    func staleVersion() async throws {
        let yaml = TestCache.shop.replacing("upstream:\n", with: "upstream:\n  version: { etag: true }\n")
        let cache = try TestCache(schema: yaml)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A"}]"#)
        for (shown, version) in [("A", nil), ("C", "2")] as [(String, String?)] {
            try await cache.change("orders", "a", #"{"notes":"\#(shown == "A" ? "B" : "C")"}"#)
            let change = try await cache.begun()
            let answer = try JSONText(parsing: #"{"id":"a","notes":"\#(shown)"}"#)
            try await cache.store.finish(change.id, .acknowledged(record: answer, version: "2"), at: now)
            try await cache.change("orders", "a", #"{"total":1}"#)
            #expect(try cache.store.readyChanges(limit: 1, at: now).first?.version == version)
            _ = try await cache.store.discard(change.id + 1, cascade: false, at: now)
        }
    }

    @Test("the version of a record that is read is kept, however the upstream spaces its JSON")
    func spacedVersion() async throws {
        let yaml = TestCache.shop.replacing("upstream:\n", with: "upstream:\n  version: { etag: true }\n")
        let cache = try TestCache(schema: yaml)
        let records = #"[{"id": "a", "notes": "A"}]"#
        _ = try await cache.pull("orders", records)
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: records, version: "1", view: .single), at: now)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.version == "1")
    }

    @Test("a version inside another member comes with every list")
    func innerVersion() async throws {
        let version = "  version: { field: meta.versionId, header: If-Match }\n"
        let cache = try TestCache(schema: TestCache.shop.replacing("upstream:\n", with: "upstream:\n\(version)"))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A","meta":{"versionId":"7"}}]"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.version == "7")
    }

    @Test("a stale field does not keep the other fields of the same answer back")
    func others() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A","total":1}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","total":1}"#)
        try await pull(cache, #"[{"id":"a","notes":"A","total":7}]"#)
        #expect(try notes(cache) == "B")
        #expect(try cache.record("orders", "a")?["total"] == 7)
    }

    @Test("when the time is over, what the server says is the truth, and it is asked only if it contradicted")
    func truth() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B"}"#)
        #expect(try await unconfirmed(cache, after: 61).isEmpty, "the answer had shown it")
        try await cache.change("orders", "a", #"{"notes":"C"}"#)
        try await cache.send(answer: nil)
        #expect(try await unconfirmed(cache, after: 59).isEmpty)
        #expect(try await unconfirmed(cache, after: 61) == ["a"])
        try await pull(cache, #"[{"id":"a","notes":"B"}]"#, after: 62, view: .single)
        #expect(try notes(cache) == "B")
        #expect(try await unconfirmed(cache, after: 63).isEmpty)
    }

    @Test("an answer without a record is confirmed by the page that shows the change, also byte for byte")
    func confirmed() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: nil)
        try await pull(cache, #"[{"id":"a","notes":"B"}]"#)
        #expect(try await unconfirmed(cache, after: 61).isEmpty)
    }

    @Test("#7 a new record is not deleted, and its queued edit not dropped, because a list is behind")
    func newRecord() async throws {
        let cache = try await cache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        let creation = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"srv","notes":"n"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        try await cache.store.update("orders", key: key, body: JSONText(parsing: #"{"notes":"m"}"#), at: now)
        let seen = try cache.store.startDeletionSweep(of: "orders")
        _ = try await cache.store.deleteUnseen(of: "orders", seen, at: now + .seconds(5))
        #expect(try cache.record("orders", "srv")?["notes"] == "m")
        _ = try await cache.store.delete(["srv"], of: "orders", position: .max, at: now + .seconds(5))
        #expect(try cache.record("orders", "srv")?["notes"] == "m")
        // Once the time is over, it is gone like any other record.
        _ = try await cache.store.delete(["srv"], of: "orders", position: .max, at: now + .seconds(70))
        #expect(try cache.conflictCount() == 1)
    }

    @Test("#7 a deleted record does not return because a list is behind; if it stays there, it is read once")
    func deleted() async throws {
        let cache = try await cache()
        try await cache.store.delete("orders", key: "a", at: now)
        try await cache.send(answer: nil)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: 20)
        #expect(try cache.record("orders", "a") == nil)
        #expect(try await unconfirmed(cache, after: 61) == ["a"])
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: 62, view: .single)
        #expect(try notes(cache) == "A")
    }

    @Test("a deleted record that a list shows later is read before it returns, unless it was changed since")
    func deletedAndListed() async throws {
        let old = #"{"id":"a","notes":"A","updated_at":"2026-01-01T00:00:00Z"}"#
        let restored = #"{"id":"a","notes":"A","updated_at":"2026-01-02T00:00:00Z"}"#
        for (seconds, record, isHidden) in [(90, old, true), (90, restored, false), (3601, old, false)] {
            let cache = try await cache(old)
            try await cache.store.delete("orders", key: "a", at: now)
            try await cache.send(answer: nil)
            try await pull(cache, "[\(record)]", after: seconds)
            #expect(try (cache.record("orders", "a") == nil) == isHidden)
            #expect(try await unconfirmed(cache, after: seconds) == (isHidden ? ["a"] : []))
            guard isHidden else { continue }
            try await cache.store.stillDeleted("orders", key: "a", at: now + .seconds(seconds))
            #expect(try await unconfirmed(cache, after: 3000).isEmpty)
            try await pull(cache, "[\(record)]", after: 3000)
            #expect(try cache.record("orders", "a") == nil)
            try await pull(cache, "[\(record)]", after: 3001, view: .single)
            #expect(try notes(cache) == "A")
        }
    }

    @Test("#7 what was deleted with a record does not return either, and forgets to whom it belonged")
    func deletedWithIt() async throws {
        for rule in ["cascade", "nullify"] {
            let cache = try TestCache(
                schema: TestCache.shop.replacing("on_delete: cascade", with: "on_delete: \(rule)")
                    .replacing("index: true, required: true }", with: "index: true }"))
            _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
            let messages = #"[{"id":"m","order_id":"a","text":"T"}]"#
            _ = try await cache.pull("messages", messages)
            try await cache.store.delete("orders", key: "a", at: now)
            try await cache.send(answer: nil)
            for _ in 1...2 {
                let page = PulledPage(entity: "messages", records: messages, view: .list)
                _ = try await cache.store.apply(page, at: now + .seconds(20))
                let shown = try cache.record("messages", "m")
                #expect(shown?["order_id"]?.string == nil && (shown == nil) == (rule == "cascade"), "\(rule)")
            }
        }
    }

    @Test("#13 a tombstone that is older than the record's creation is stale")
    func tombstone() async throws {
        let cache = try await cache(#"{"id":"b"}"#)
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a","notes":"n"}"#), at: now)
        try await cache.send(answer: #"{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:05Z"}"#)
        try await pull(cache, #"[{"id":"a","deleted_at":"x","updated_at":"2026-01-01T00:00:04Z"}]"#)
        #expect(try notes(cache) == "n")
        try await pull(cache, #"[{"id":"a","deleted_at":"x","updated_at":"2026-01-01T00:00:06Z"}]"#)
        #expect(try notes(cache) == nil)
    }

    @Test("a tombstone without a time deletes no record that was created a moment ago")
    func undatedTombstone() async throws {
        let cache = try await cache(#"{"id":"b"}"#)
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a","notes":"n"}"#), at: now)
        try await cache.send(answer: #"{"id":"a","notes":"n"}"#)
        let tombstone = #"[{"id":"a","deleted_at":"x"}]"#
        try await pull(cache, tombstone)
        #expect(try notes(cache) == "n")
        try await pull(cache, tombstone, after: 61)
        #expect(try notes(cache) == nil)
    }

    @Test("a field that no view had shown keeps what was sent until the time is over", arguments: [true, false])
    func blind(answered: Bool) async throws {
        let cache = try await cache(#"{"id":"a"}"#)
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        let old = #"{"id":"a","notes":"A"}"#
        try await cache.send(answer: answered ? old : nil)
        if !answered { try await pull(cache, "[\(old)]", view: .single) }
        #expect(try notes(cache) == "B")
        #expect(try await unconfirmed(cache, after: 61) == ["a"])
        try await pull(cache, #"[{"id":"a","notes":"theirs"}]"#, after: 61, view: .single)
        #expect(try notes(cache) == "theirs")
    }

    @Test(
        "what no view has shown when the time is over is read once, whatever lists show meanwhile",
        arguments: [#"[{"id":"a","notes":"B","total":"1.01"}]"#, #"[{"id":"a","notes":"B"}]"#])
    func shownByNoList(single: String) async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B","total":1.005}"#)
        try await cache.send(answer: nil)
        for seconds in [30, 62, 64] { try await pull(cache, #"[{"id":"a","notes":"B"}]"#, after: seconds) }
        #expect(try await unconfirmed(cache, after: 65) == ["a"])
        try await pull(cache, single, after: 66, view: .single)
        #expect(try cache.record("orders", "a")?["total"]?.plain == (single.contains("total") ? "1.01" : nil))
        #expect(try await unconfirmed(cache, after: 67).isEmpty)
    }

    @Test("an answer that shows one change shows what became of the other")
    func notBlind() async throws {
        let cache = try await cache(#"{"id":"a","notes":"A"}"#)
        try await cache.change("orders", "a", #"{"notes":"B","status":"open"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","status":"ready"}"#)
        #expect(try cache.record("orders", "a")?["status"] == "ready")
    }

    @Test("a clock that is set back starts the time again, and does not make it endless")
    func clock() async throws {
        let cache = try await cache()
        try await cache.change("orders", "a", #"{"notes":"B"}"#)
        try await cache.send(answer: nil)
        try await pull(cache, #"[{"id":"a","notes":"A"}]"#, after: -86_400)
        #expect(try notes(cache) == "B")
        #expect(try await unconfirmed(cache, after: -86_400 + 61) == ["a"])
    }
}
