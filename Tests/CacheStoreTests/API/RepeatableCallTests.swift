import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Repeatable calls")
struct RepeatableCallTests {
    private let now = TestCache.now

    private func change(_ cache: TestCache, _ key: String, _ body: String) async throws -> String {
        let fields = try JSONText(parsing: body)
        return try await cache.store.write(
            once: RepeatableCall(key: key, request: Array(body.utf8)), at: now
        ) { transaction in
            try transaction.update("orders", key: "a", fields)
            return String(decoding: try transaction.shown("orders", key: "a")?.bytes ?? [], as: UTF8.self)
        }
    }

    @Test("an answer survives a restart, and has the record as it was then")
    func reopened() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","total":129.90}]"#)
        let first = try await change(cache, "k", #"{"notes":"x"}"#)
        let reopened = try cache.reopened()
        try await reopened.store.update("orders", key: "a", body: .object(["notes": "y"]), at: now)
        #expect(try await change(reopened, "k", #"{"notes":"x"}"#) == first)
        #expect(first.contains(#""total":129.90"#))
        #expect(try reopened.record("orders", "a")?["notes"] == "y")
    }

    @Test("an answer made inside the transaction equals what a reader gets after it")
    func sameBytes() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n","passcode":"4711"}]"#)
        let answer = try await change(cache, "k", #"{"notes":"x"}"#)
        #expect(try cache.store.record("orders", key: "a").map { String(decoding: $0, as: UTF8.self) } == answer)
    }

    @Test("the stored fingerprint of a request with a secret reveals nothing about it")
    func secret() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        _ = try await change(cache, "k", #"{"passcode":"4711-secret"}"#)
        let kept = try await cache.store.pool.read { db in
            try String.fetchAll(db, sql: "SELECT key || request || answer FROM sync_answer")
        }
        #expect(kept.count == 1 && !kept.contains { $0.contains("4711-secret") })
    }

    @Test("a write that throws leaves neither a change nor an answer")
    func thrown() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        await #expect(throws: CacheError.conflict("no")) {
            _ = try await cache.store.write(once: RepeatableCall(key: "k", request: [1]), at: now) { transaction in
                try transaction.update("orders", key: "a", .object(["notes": "x"]))
                throw CacheError.conflict("no")
            }
        }
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try await change(cache, "k", #"{"notes":"x"}"#).contains(#""notes":"x""#))
    }

    @Test("a day later answers go a thousand at a time, and those that are still there are not given")
    func expired() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.pool.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                    INSERT INTO sync_answer SELECT 'k' || i, i, 'another', '{}' FROM n
                    """)
        }
        #expect(try await change(cache, "k1500", #"{"notes":"x"}"#).contains(#""notes":"x""#))
        let left = try await cache.store.pool.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_answer")
        }
        #expect(left == 500)
    }

    @Test("Of many large answers the newest are kept, of the others the key, and all small ones")
    func large() throws {
        let answers = LargeAnswers(most: 100_000)
        let large = #""\#(String(repeating: "x", count: 30_000))""#
        let kept = try DatabaseQueue().write { db in
            try db.execute(sql: Migrations.idempotency)
            for number in 0..<10 {
                let answer = number == 2 ? #""small""# : large
                try answers.add(answer, db)
                try db.execute(
                    sql: "INSERT INTO sync_answer VALUES (?, ?, '', ?)", arguments: ["k\(number)", number, answer])
            }
            return try String.fetchAll(
                db, sql: "SELECT key FROM sync_answer WHERE answer <> '{}' ORDER BY at")
        }
        #expect(kept.first == "k2" && kept.last == "k9")
        #expect((3...6).contains(kept.count))
    }

    @Test("A repeat whose answer is no longer kept does nothing")
    func forgotten() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        _ = try await change(cache, "k", #"{"notes":"x"}"#)
        _ = try await cache.store.write(at: now) { try $0.db.execute(sql: "UPDATE sync_answer SET answer = '{}'") }
        try await cache.store.update("orders", key: "a", body: .object(["notes": "y"]), at: now)
        #expect(try await change(cache, "k", #"{"notes":"x"}"#) == "{}")
        #expect(try cache.record("orders", "a")?["notes"] == "y")
    }
}
