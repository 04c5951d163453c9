import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite struct HistoryTests {
    private static func history(_ cache: TestCache, _ key: String) throws -> [JSONText] {
        try cache.store.history(of: "orders", key: key, after: 0, limit: 100).entries
    }

    private static func kinds(_ cache: TestCache, _ key: String) throws -> [String] {
        try history(cache, key).compactMap { $0["kind"]?.string }
    }

    /// Begins the first change and settles it.
    private static func attempt(_ cache: TestCache, _ outcome: PushOutcome) async throws {
        let store = cache.store
        let change = try #require(store.readyChanges(limit: 1, at: .init(milliseconds: .max)).first)
        #expect(try await store.begin(change, at: TestCache.now))
        try await store.finish(change.id, outcome, at: TestCache.now)
    }

    @Test("the history has the edit, its attempt, failure, retry and acknowledgement")
    func story() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"},{"id":"b"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["status": "ready"]), at: TestCache.now)
        let failure = PushFailure(.refused, status: 422, message: "no")
        try await Self.attempt(cache, .waiting(failure, at: TestCache.now, counted: true))
        try await Self.attempt(cache, .failed(failure))
        let id = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"]?.integer)
        _ = try await cache.store.retry(Int64(id), at: TestCache.now)
        try await Self.attempt(cache, .notSent)
        try await Self.attempt(cache, .acknowledged(record: nil))
        let history = try Self.history(cache, "a")
        #expect(
            try Self.kinds(cache, "a") == [
                "upserted", "queued", "uploading", "waiting", "uploading", "failed", "queued", "uploading", "queued",
                "uploading", "acknowledged",
            ])
        #expect(history[1]["values"]?.text == #"{"status":"ready"}"#)
        #expect(history[1]["operation"] == "update")
        #expect(history[3]["error"]?.text == #"{"class":"refused","status":422,"message":"no"}"#)
        #expect(history.compactMap { $0["attempt"]?.integer } == [1, 2, 3, 3])
        #expect(history.compactMap { $0["reason"]?.string } == ["edited", "retried", "not_sent"])
        #expect(history.dropFirst().allSatisfy { $0["change_id"]?.integer == id })
        #expect(try Self.kinds(cache, "b") == ["upserted"])
    }

    @Test("a history has all steps of its record in a long log, before and after pruning", arguments: [false, true])
    func long(_ isPruned: Bool) async throws {
        let cache = try TestCache()
        try await cache.store.writer.write { db in
            let log = cache.store.context(db, at: TestCache.now).log
            for id in 1...1800 {
                try log.append(.queued, change: Int64(id), entity: "orders", key: "r\(id * id % 97)")
                if id.isMultiple(of: 10) { try log.append(.upserted, entity: "orders", keys: ["x", "y\(id)", "z"]) }
            }
        }
        let limits = LogLimits(age: .seconds(86_400), count: 900)
        while isPruned, try await cache.store.pruneLog(to: limits, at: TestCache.now) > 0 {}
        let (rows, parts) = try cache.store.read { db in
            (
                try Row.fetchAll(
                    db, sql: "SELECT keys, seq FROM sync_change_log WHERE change_id IS NOT NULL ORDER BY seq"),
                try Row.fetchAll(db, sql: "SELECT first, last FROM sync_log_part")
            )
        }
        #expect(rows.count == (isPruned ? 900 : 1800))
        #expect(!parts.isEmpty && parts.allSatisfy { ($0["last"] as Int) >= rows[0]["seq"] }, "\(parts)")
        for (keys, rows) in Dictionary(grouping: rows, by: { $0["keys"] as String }) {
            let key = try #require(JSONText(parsing: keys).elements.first?.string)
            #expect(try Self.history(cache, key).map { $0["seq"]?.integer } == rows.map { $0["seq"] })
        }
    }

    @Test("a renamed record has one history under both keys")
    func renamed() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: .object(["status": "open"]), at: TestCache.now)
        try await Self.attempt(cache, .acknowledged(record: JSONText(parsing: #"{"id":"srv","status":"open"}"#)))
        for name in ["srv", key] {
            let history = try Self.history(cache, name)
            #expect(try Self.kinds(cache, name) == ["queued", "uploading", "renamed", "acknowledged"])
            #expect(history[2]["old_id"]?.string == key)
        }
        let renamed = try cache.store.changes(since: 2, limit: 1).events[0].document
        #expect(renamed["id"] == "srv" && renamed["old_id"]?.string == key)
    }

    @Test("a conflict shows both values and the winner")
    func conflict() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "mine"]), at: TestCache.now)
        _ = try await cache.pull(
            "orders", #"[{"id":"a","status":"open","notes":"theirs","updated_at":"2027-01-01T00:00:00Z"}]"#)
        let history = try Self.history(cache, "a")
        let conflict = try #require(history.first { $0["kind"] == "conflict" }?["conflict"])
        #expect(conflict["field"] == "notes" && conflict["local"] == "mine" && conflict["server"] == "theirs")
        #expect(conflict["winner"] == "server" && conflict["rule"] == "last_write_wins")
        // The change had no other field.
        #expect(history.first { $0["kind"] == "discarded" }?["reason"] == "merged")
    }

    @Test("values of secret fields, and very long values, are left out")
    func secrets() async throws {
        let cache = try TestCache()
        let notes = String(repeating: "n", count: 2000)
        _ = try await cache.store.create(
            "orders", body: .object(["id": "a", "passcode": "0000-secret", "notes": .string(notes)]), at: TestCache.now)
        let edit = try #require(try Self.history(cache, "a").first)
        #expect(edit["values"]?.text == #"{"id":"a"}"#)
        #expect(edit["fields"]?.text == #"["id","passcode","notes"]"#)
        let log = try cache.store.read { db in
            try String.fetchAll(
                db, sql: "SELECT coalesce(detail, '') || keys || coalesce(fields, '') FROM sync_change_log")
        }
        #expect(!log.joined().contains("secret"))
    }

    @Test("a local deletion supersedes unsent edits, and the history says so")
    func superseded() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: TestCache.now)
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        #expect(try Self.kinds(cache, "a") == ["upserted", "queued", "discarded", "queued"])
        let key = try await cache.store.create("orders", body: .object([:]), at: TestCache.now)
        try await cache.store.delete("orders", key: key, at: TestCache.now)
        #expect(try Self.kinds(cache, key) == ["queued", "discarded", "deleted"])
    }

    @Test("a correction shows which fields it set and removed")
    func corrected() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.update(
            "orders", key: "a", body: .object(["status": "ready", "notes": "x"]), at: TestCache.now)
        try await Self.attempt(cache, .failed(PushFailure(.refused, status: 422, message: "no")))
        let id = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"]?.integer)
        try await cache.store.correct(
            Int64(id), setting: .object(["status": "open"]), removing: ["notes"], at: TestCache.now)
        let correction = try #require(Self.history(cache, "a").last)
        #expect(correction["kind"] == "queued" && correction["reason"] == "corrected")
        #expect(correction["values"]?.text == #"{"status":"open"}"#)
        #expect(correction["removed"]?.text == #"["notes"]"#)
    }

    @Test("an attempt interrupted by a crash is recorded at the next start")
    func interrupted() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: TestCache.now)
        let change = try #require(cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        _ = try await cache.store.begin(change, at: TestCache.now)
        #expect(try await cache.store.recoverInterrupted(at: TestCache.now, longest: { _ in .zero }) == 1)
        #expect(try Self.history(cache, "a").last?["reason"] == "interrupted")
    }

    @Test("similar keys are not mixed up")
    func similarKeys() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"},{"id":"ab"},{"id":"a\"b"}]"#)
        #expect(try Self.kinds(cache, "b") == ["upserted"])
        #expect(try Self.history(cache, "ab").first?["seq"]?.integer == 3)
        #expect(try Self.history(cache, #"a"b"#).first?["seq"]?.integer == 4)
        #expect(throws: CacheError.self) { try Self.history(cache, ",") }
    }

    @Test("each page continues where the last one ended")
    func paging() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"z"},{"id":"a"},{"id":"y"}]"#)
        for number in 0..<4 {
            try await cache.store.update(
                "orders", key: "a", body: .object(["notes": .string("\(number)")]), at: TestCache.now)
        }
        var seen: [Int] = []
        var after: Int64 = 0
        while true {
            let page = try cache.store.history(of: "orders", key: "a", after: after, limit: 2)
            seen += page.entries.compactMap { $0["seq"]?.integer }
            guard let next = page.next else { break }
            after = next
        }
        #expect(seen == [2, 4, 5, 6, 7])
    }
}
