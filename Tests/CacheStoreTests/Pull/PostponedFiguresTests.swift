import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// What a talk computes from its lines, while those are loaded for the first time.
@Suite("Figures during a first load")
struct PostponedFiguresTests {
    private static let talks = 1200

    /// Talks of which the server says no figures, but for the first.
    private func cache(talks: Int = 2) async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        let records = (0..<talks).map { $0 == 0 ? #"{"id":"t0","line_count":7,"cost":1}"# : #"{"id":"t\#($0)"}"# }
        _ = try await cache.pull("talks", "[\(records.joined(separator: ","))]")
        try await end("talks", cache)
        return cache
    }

    /// A page of a first load: line `n` belongs to talk `n` of `talks`.
    private func load(
        _ numbers: Range<Int>, of talks: Int = 2, into cache: TestCache, isLast: Bool = false
    ) async throws {
        let records = numbers.map { number in
            JSONText.object([
                "id": .string("l\(number)"), "talk_id": .string("t\(number % talks)"), "cost": .integer(2),
                "text": .string("line \(number)"), "at": .string("2026-11-20T10:00:00Z"), "state": "sent",
            ])
        }
        let pull = PullInProgress(kind: .everything, position: "\(numbers.upperBound)", began: 0)
        var page = PulledPage(
            entity: "lines", records: JSONText.array(records).text, position: .max,
            cursor: isLast ? nil : PullCursor(pull: pull))
        page.began = 0
        _ = try await cache.store.apply(page, at: TestCache.now)
        if isLast { try await end("lines", cache) }
    }

    private func end(_ entity: String, _ cache: TestCache) async throws {
        try await cache.store.setCursor(of: entity, to: PullCursor(lastSyncedAt: TestCache.now))
    }

    private func isComplete(_ cache: TestCache) throws -> Bool {
        try cache.store.list(ListQuery(entity: "talks")).isComplete
    }

    private func lines(_ cache: TestCache, _ key: String) throws -> [String] {
        try cache.values("talks", key, "line_count", "cost", "last_text")
    }

    /// One step of `completeFigures`, as of a process that is killed after it.
    private func computeSome(_ cache: TestCache) async throws -> Bool {
        let store = cache.store
        return try await store.change(at: TestCache.now) { context in
            let talks = try PostponedFigures(store.table("talks"), in: store.schema, context.db)
            return try talks.computeNext(in: context.records, refresh: context.refresh)
        }
    }

    @Test("they wait for its end, without an index, and lists with them are incomplete until they are computed")
    func wait() async throws {
        let cache = try await cache()
        #expect(try isComplete(cache))
        try await load(0..<4, into: cache)
        let indexes = try await cache.store.pool.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'records_lines' AND sql <> ''")
        }
        #expect(indexes == [])
        #expect(try lines(cache, "t1") == ["0", "0.00", "null"])
        #expect(try !isComplete(cache))
        try await load(4..<6, into: cache, isLast: true)
        try await cache.store.completeFigures(at: TestCache.now)
        #expect(try lines(cache, "t1") == ["0", "0.00", "null"], "indexes are missing")
        try await cache.store.completeIndexes()
        #expect(try !isComplete(cache))
        try await cache.store.completeFigures(at: TestCache.now)
        #expect(try lines(cache, "t1") == ["3", "6.00", #""line 5""#])
        #expect(try isComplete(cache))
    }

    @Test("lists stay complete where the server says all figures")
    func said() async throws {
        let schema = DerivedFieldSchema.yaml
            .replacing("last_text: { type: string, derive: { latest: lines.text, by: at } }", with: "")
            .replacing("last_at: { type: time, derive: { latest: lines.at, by: at } }", with: "")
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull(
            "talks", #"[{"id":"t0","line_count":3,"unread_count":1,"failed_count":0,"cost":"6.00"}]"#)
        try await end("talks", cache)
        try await load(0..<3, of: 1, into: cache)
        #expect(try isComplete(cache))
        try await load(3..<4, of: 1, into: cache, isLast: true)
        try await cache.store.completeLoading(at: TestCache.now)
        #expect(try cache.values("talks", "t0", "line_count", "cost") == ["3", #""6.00""#])
    }

    @Test("what callers change meanwhile counts in the end")
    func edited() async throws {
        let cache = try await cache()
        try await load(0..<4, into: cache)
        let made = try await cache.make("lines", #"{"talk_id":"t0","text":"mine","cost":5}"#)
        try await cache.change("lines", "l1", #"{"cost":3}"#)
        try await cache.change("lines", "l3", #"{"talk_id":"t0"}"#)
        try await cache.change("talks", "t1", #"{"owner_id":"p"}"#)
        try await load(4..<6, into: cache, isLast: true)
        try await cache.store.completeLoading(at: TestCache.now)
        #expect(try cache.values("talks", "t0", "line_count", "cost") == ["9", "8"])
        #expect(try cache.values("talks", "t1", "line_count", "cost") == ["2", "5.00"])
        try await cache.store.delete("lines", key: made, at: TestCache.now)
        #expect(try cache.values("talks", "t0", "line_count", "cost") == ["8", "3"])
    }

    @Test("a load that is cut off between any two of its steps continues")
    func cutOff() async throws {
        var cache = try await cache(talks: Self.talks)
        try await load(0..<2000, of: Self.talks, into: cache)
        cache = try cache.reopened(schema: DerivedFieldSchema.yaml)
        #expect(try !isComplete(cache))
        try await load(2000..<2400, of: Self.talks, into: cache, isLast: true)
        try await cache.store.completeIndexes()
        cache = try cache.reopened(schema: DerivedFieldSchema.yaml)
        var steps = 0
        while try await computeSome(cache) {
            steps += 1
            #expect(try !isComplete(cache))
            cache = try cache.reopened(schema: DerivedFieldSchema.yaml)
        }
        #expect(steps == 3)
        #expect(try isComplete(cache))
        for key in ["t1", "t499", "t500", "t1199"] { #expect(try cache.values("talks", key, "line_count") == ["2"]) }
    }

    @Test("another load of what they are computed from makes them wait again")
    func again() async throws {
        let cache = try await cache()
        try await load(0..<4, into: cache)
        try await cache.store.completeIndexes()
        #expect(try await computeSome(cache))
        try await cache.store.writer.write { [store = cache.store] db in
            try SecondaryIndexes(table: store.table("lines"), db: db).postpone()
        }
        #expect(try await !computeSome(cache))
        try await load(4..<6, into: cache, isLast: true)
        #expect(try !isComplete(cache))
        try await cache.store.completeLoading(at: TestCache.now)
        #expect(try lines(cache, "t1") == ["3", "6.00", #""line 5""#])
    }

    @Test("the consistency check misses figures that are never computed")
    func forgotten() async throws {
        let cache = try await cache()
        cache.isDamaged = true
        try await load(0..<4, into: cache)
        #expect(try cache.store.inconsistencies() == [])
        try await cache.store.writer.write { db in try SettingTable(db: db).remove(PostponedFigures.setting("talks")) }
        #expect(try cache.store.inconsistencies().map(\.part) == [.derived, .derived])
    }

    @Test("watchers learn of the figures")
    func watched() async throws {
        let cache = try await cache()
        try await load(0..<4, into: cache)
        try await cache.store.completeIndexes()
        let position = try cache.store.position()
        try await cache.store.completeFigures(at: TestCache.now)
        let keys = try await cache.store.pool.read { db in
            try String.fetchAll(
                db, sql: "SELECT keys FROM sync_change_log WHERE seq > ? AND entity = 'talks'", arguments: [position])
        }
        #expect(keys == [#"["t0","t1"]"#])
    }
}
