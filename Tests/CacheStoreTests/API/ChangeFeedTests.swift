import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite struct ChangeFeedTests {
    private static func records(_ keys: Range<Int>) -> String {
        "[" + keys.map { "{\"id\":\"k\($0)\"}" }.joined(separator: ",") + "]"
    }

    private static func ids(_ page: ChangePage) -> [String] { page.events.compactMap { $0.document["id"]?.string } }

    @Test("every record of a pull has its own number, although all of them are one row")
    func runs() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.records(0..<500))
        try await cache.store.update("orders", key: "k1", body: .object(["notes": "x"]), at: TestCache.now)
        let rows = try cache.store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sync_change_log") }
        #expect(rows == 2)
        var since: Int64 = 0
        var seen: [String] = []
        repeat {
            let page = try cache.store.changes(since: since, limit: 7)
            #expect(page.events.map(\.seq).elementsEqual((since + 1)...page.next))
            seen += Self.ids(page)
            since = page.next
        } while since < 501
        #expect(seen == (0..<500).map { "k\($0)" } + ["k1"])
        #expect(try cache.store.changes(since: since, limit: 7).events.isEmpty)
    }

    @Test("a page of large entries, as older versions wrote, ends before its limit")
    func large() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.records(0..<6))
        try await cache.store.pool.write { db in
            try db.execute(
                sql: """
                    UPDATE sync_change_log SET seq = 1, keys = '["k0"]', kind = 'reminder',
                      detail = json_object('reminder', json_object('text', printf('%.*c', 1500000, 'x')))
                    """)
            for number in 2...6 {
                try db.execute(
                    sql: """
                        INSERT INTO sync_change_log (seq, at, kind, entity, keys, detail, last_change, steps)
                        SELECT ?, at, kind, entity, keys, detail, last_change, steps FROM sync_change_log WHERE seq = 1
                        """, arguments: [number])
            }
        }
        let first = try cache.store.changes(since: 0, limit: 100)
        #expect(first.events.map(\.seq) == [1, 2, 3] && first.isFull && first.next == 3)
        let rest = try cache.store.changes(since: first.next, limit: 100)
        #expect(rest.events.map(\.seq) == [4, 5, 6] && !rest.isFull && rest.next == 6)
    }

    @Test("an entry has the kind, the record, the fields and the change")
    func document() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: TestCache.now)
        let change = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"])
        #expect(
            try cache.store.changes(since: 0, limit: 9).events.map(\.document.text) == [
                #"{"seq":1,"at":"2026-11-21T10:42:00.000Z","kind":"upserted","entity":"orders","id":"a","fields":null,"#
                    + #""change_id":null}"#,
                #"{"seq":2,"at":"2026-11-21T10:42:00.000Z","kind":"queued","entity":"orders","id":"a","#
                    + #""fields":["notes"],"change_id":\#(change.text)}"#,
            ])
    }

    @Test("a filter passes what it names, and the cursor moves past what it leaves out")
    func filter() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.records(0..<3))
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"k1","text":"t"}]"#)
        try await cache.store.update("orders", key: "k1", body: .object(["notes": "x"]), at: TestCache.now)
        let messages = try cache.store.changes(since: 0, filter: ChangeFilter(entities: ["messages"]), limit: 9)
        #expect(Self.ids(messages) == ["m"])
        #expect(messages.next == 5)
        let queued = try cache.store.changes(since: 0, filter: ChangeFilter(kinds: [.queued]), limit: 1)
        #expect(Self.ids(queued) == ["k1"])
    }

    @Test("a number beyond the end belongs to another file")
    func beyondTheEnd() throws {
        let cache = try TestCache()
        #expect(try cache.store.changes(since: 0, limit: 1).events.isEmpty)
        #expect {
            try cache.store.changes(since: 1, limit: 1)
        } throws: { if case CacheError.gone = $0 { true } else { false } }
    }

    @Test("the epoch stays with the file; a copy gets another")
    func epoch() throws {
        let cache = try TestCache()
        let epoch = cache.store.epoch
        #expect(!epoch.isEmpty)
        let reopened = try cache.reopened()
        #expect(reopened.store.epoch == epoch)
        try reopened.store.close()
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: cache.path, toPath: copy.path("cache.db"))
        #expect(try TestCache(in: copy).store.epoch != epoch)
    }

    // MARK: Pruning

    private static let day = Duration.seconds(86_400)

    private static func prune(_ cache: TestCache, age: Duration, count: Int, batch: Int = 200) async throws {
        while try await cache.store.pruneLog(
            to: LogLimits(age: age, count: count), at: TestCache.now, batch: batch) > 0
        {}
    }

    @Test("entries older than the limit are pruned in batches, and reading from before that point is refused")
    func age() async throws {
        let cache = try TestCache()
        for number in 0..<5 {
            let page = PulledPage(entity: "orders", records: Self.records((10 * number)..<(10 * number + 10)))
            _ = try await cache.store.apply(page, at: TestCache.now - .seconds(86_400 * (5 - number)))
        }
        let limits = LogLimits(age: Self.day * 2.5, count: 1000)
        #expect(try await cache.store.pruneLog(to: limits, at: TestCache.now, batch: 2) == 2)
        #expect(try await cache.store.pruneLog(to: limits, at: TestCache.now, batch: 2) == 1)
        #expect(try await cache.store.pruneLog(to: limits, at: TestCache.now, batch: 2) == 0)
        #expect(try Self.ids(cache.store.changes(since: 30, limit: 1)) == ["k30"])
        #expect(throws: CacheError.self) { try cache.store.changes(since: 29, limit: 1) }
    }

    @Test("the sequence never restarts, even if all entries are old")
    func sequenceGoesOn() async throws {
        let cache = try TestCache()
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: Self.records(0..<7)), at: TestCache.now - Self.day * 9)
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: Self.records(7..<10)), at: TestCache.now - Self.day * 9)
        try await Self.prune(cache, age: Self.day, count: 100)
        #expect(try cache.store.position() == 10)
        _ = try await cache.pull("orders", Self.records(10..<11))
        #expect(try cache.store.changes(since: 10, limit: 9).events.map(\.seq) == [11])
    }

    @Test("beyond the maximum number, pulls are pruned; the history of edits has its own count")
    func number() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.records(0..<1))
        for number in 0..<6 {
            try await cache.store.update(
                "orders", key: "k0", body: .object(["notes": .string("\(number)")]), at: TestCache.now)
        }
        for number in 1..<40 { _ = try await cache.pull("orders", Self.records((5 * number)..<(5 * number + 5))) }
        try await Self.prune(cache, age: Self.day, count: 5, batch: 3)
        let rows = try cache.store.read {
            try Row.fetchOne($0, sql: "SELECT count(change_id), count(*) - count(change_id) FROM sync_change_log")
        }
        #expect(rows?[0] == 5 && rows?[1] == 1)
        #expect(try cache.store.history(of: "orders", key: "k0", after: 0, limit: 50).entries.count == 5)
    }

    // MARK: Waking

    @Test("a commit wakes waiting tasks; a failed write does not")
    func wakes() async throws {
        let cache = try TestCache()
        let store = cache.store
        let before = store.signal.commits
        let waiter = Task { await store.signal.wait(after: before) }
        while store.signal.waiterCount == 0 { await Task.yield() }
        _ = try await cache.pull("orders", Self.records(0..<1))
        await waiter.value
        #expect(store.signal.commits > before)
    }

    @Test("a wait that starts after its commit ends at once")
    func noLostWakeup() async throws {
        let cache = try TestCache()
        let before = cache.store.signal.commits
        _ = try await cache.pull("orders", Self.records(0..<1))
        await cache.store.signal.wait(after: before)
    }

    @Test("a cancelled wait is removed, and closing ends all waits")
    func cancelled() async throws {
        let store = try TestCache().store
        let commits = store.signal.commits
        let one = Task { await store.signal.wait(after: commits) }
        let other = Task { await store.signal.wait(after: commits) }
        while store.signal.waiterCount < 2 { await Task.yield() }
        one.cancel()
        await one.value
        #expect(store.signal.waiterCount == 1)
        store.signal.close()
        await other.value
        await store.signal.wait(after: store.signal.commits)
    }
}
