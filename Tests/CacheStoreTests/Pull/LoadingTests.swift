import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("First loads")
struct LoadingTests {
    private func page(_ numbers: Range<Int>, of cache: TestCache, isLast: Bool = false) -> PulledPage {
        let records = numbers.map { number in
            JSONText.object([
                "id": .string("o\(number)"), "status": .string(number.isMultiple(of: 2) ? "open" : "ready"),
                "created_at": .string("2026-11-20T10:00:00Z"), "updated_at": .string("2026-11-20T10:00:00Z"),
            ])
        }
        let pull = PullInProgress(kind: .everything, position: "\(numbers.upperBound)", began: 0)
        var page = PulledPage(
            entity: "orders", records: JSONText.array(records).text, position: .max,
            cursor: isLast ? nil : PullCursor(pull: pull))
        page.began = 0
        return page
    }

    private func indexes(_ cache: TestCache) throws -> Int {
        try cache.store.pool.read { db in
            try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name = 'records_orders' AND sql GLOB 'CREATE INDEX*'"
            )
        } ?? 0
    }

    private var query: ListQuery {
        var query = ListQuery(entity: "orders")
        query.filters = [FilterCondition(field: "status", comparison: .equal, values: ["open"])]
        return query
    }

    private func finish(_ cache: TestCache) async throws {
        try await end(cache)
        try await cache.store.completeIndexes()
    }

    /// What the end of a pull stores.
    private func end(_ cache: TestCache, of entity: String = "orders") async throws {
        try await cache.store.setCursor(of: entity, to: PullCursor(lastSyncedAt: TestCache.now))
    }

    private func isComplete(_ entity: String, _ cache: TestCache) throws -> Bool {
        try cache.store.list(ListQuery(entity: entity)).isComplete
    }

    @Test("a load of several pages builds the indexes afterwards; lists work meanwhile and say that they lack records")
    func postponed() async throws {
        let cache = try TestCache()
        let wanted = try indexes(cache)
        _ = try await cache.store.apply(page(0..<10, of: cache), at: TestCache.now)
        #expect(try indexes(cache) == 0)
        _ = try await cache.store.apply(page(10..<20, of: cache, isLast: true), at: TestCache.now)
        let during = try cache.store.list(query)
        #expect((during.count, during.isComplete) == (10, false))
        try await finish(cache)
        #expect(try indexes(cache) == wanted)
        let after = try cache.store.list(query)
        #expect((after.records, after.isComplete) == (during.records, true))
    }

    @Test("a page that is the whole list leaves the indexes alone")
    func single() async throws {
        let cache = try TestCache()
        let wanted = try indexes(cache)
        _ = try await cache.store.apply(page(0..<10, of: cache, isLast: true), at: TestCache.now)
        #expect(try indexes(cache) == wanted)
        try await end(cache)
        #expect(try cache.store.list(query).isComplete)
    }

    @Test("a list is complete once its first pull has ended, however it ended before")
    func first() async throws {
        let cache = try TestCache()
        #expect(try !isComplete("orders", cache))
        try await cache.store.setCursor(of: "orders", to: PullCursor(error: "no such page"))
        #expect(try !isComplete("orders", cache))
        try await cache.store.setCursor(of: "orders", to: PullCursor())
        #expect(try !isComplete("orders", cache))
        try await end(cache)
        #expect(try isComplete("orders", cache))
        try await cache.store.setCursor(of: "orders", to: PullCursor(lastSyncedAt: TestCache.now, error: "away"))
        #expect(try isComplete("orders", cache))
    }

    @Test("a local-only list is complete")
    func local() throws {
        let schema =
            TestCache.shop + """

                  drafts:
                    local: true
                    fields:
                      id: { type: string }
                """
        let cache = try TestCache(schema: schema)
        #expect(try isComplete("drafts", cache))
        #expect(try !isComplete("messages", cache))
    }

    @Test("children that take a call for each parent are complete once those of all parents have been fetched")
    func children() async throws {
        let cache = try TestCache()
        _ = try await cache.store.apply(page(0..<1, of: cache, isLast: true), at: TestCache.now)
        try await end(cache)
        #expect(try !isComplete("messages", cache))
        let parent = try #require(try cache.store.parents(of: "orders", after: 0, all: false, limit: 9).first)
        var fetched = PulledPage(entity: "orders", records: "[]")
        fetched.details = [PulledPage.Detail(key: parent.key, value: parent.value)]
        _ = try await cache.store.apply(fetched, at: TestCache.now)
        // As an older version left it.
        #expect(try isComplete("messages", cache))
        try await end(cache, of: "messages")
        _ = try await cache.pull("orders", #"[{"id":"new","updated_at":"2026-11-21T00:00:00Z"}]"#)
        #expect(try isComplete("messages", cache))
    }

    @Test("children that are embedded in another entity's records are complete with them")
    func embedded() async throws {
        let schema = TestCache.shop.replacing(
            #"path: "/orders/{id}/messages", into: messages, when_changed: updated_at"#,
            with: "embedded: messages, into: messages")
        let cache = try TestCache(schema: schema)
        #expect(try !isComplete("messages", cache))
        try await end(cache)
        #expect(try isComplete("messages", cache))
    }

    @Test("the next start builds the indexes of a load that was cut off")
    func cutOff() async throws {
        let cache = try TestCache()
        let wanted = try indexes(cache)
        _ = try await cache.store.apply(page(0..<10, of: cache), at: TestCache.now)
        let reopened = try cache.reopened()
        #expect(try indexes(reopened) == wanted)
        #expect(try reopened.store.list(query).isComplete == false)
        _ = try await reopened.store.apply(page(10..<20, of: reopened, isLast: true), at: TestCache.now)
        #expect(try indexes(reopened) == wanted)
        try await finish(reopened)
    }

    @Test("indexes are built before a value too long to be sorted is written")
    func long() async throws {
        let cache = try TestCache()
        let wanted = try indexes(cache)
        _ = try await cache.store.apply(page(0..<10, of: cache), at: TestCache.now)
        #expect(try indexes(cache) == 0)
        var large = page(10..<11, of: cache)
        let long = String(repeating: "x", count: 100_000)
        large.records = try JSONText(parsing: large.records.text.replacing("open", with: long))
        _ = try await cache.store.apply(large, at: TestCache.now)
        #expect(try indexes(cache) == wanted)
        _ = try await cache.store.apply(page(11..<20, of: cache, isLast: true), at: TestCache.now)
        try await finish(cache)
        let list = try cache.store.list(query)
        #expect((list.count, list.isComplete) == (9, true))
        #expect(try cache.store.inconsistencies() == [])
    }

    @Test("several pages share a transaction, each with what those before it have led to")
    func several() async throws {
        let cache = try TestCache()
        let pages = [page(0..<10, of: cache), page(5..<15, of: cache), page(15..<20, of: cache, isLast: true)]
        let step = try await cache.store.apply(
            pages, continuing: [Int](), at: TestCache.now,
            before: { written, page in page.watermark = written.isEmpty ? nil : "2026-11-20T12:00:00.000Z" },
            after: { written, page, outcome in written.append(outcome.written) })
        #expect(step.progress == [10, 5, 5])
        #expect(step.outcomes.map(\.lateness) == [0, 7_200_000, 7_200_000])
        try await finish(cache)
    }

    @Test("pages stop sharing a transaction when another write waits for it")
    func awaited() async throws {
        let cache = try TestCache()
        let pages = [page(0..<10, of: cache), page(10..<20, of: cache, isLast: true)]
        let step = try await cache.store.apply(
            pages, continuing: 0, at: TestCache.now,
            before: { [writer = cache.store.writer] _, _ in _ = Task.immediate { try await writer.write { _ in } } },
            after: { pages, _, _ in pages += 1 })
        #expect(step.progress == 1)
        #expect(step.outcomes.map(\.written) == [10])
    }

    @Test("a new indexed field is filled for all records at the next start, which may be cut off")
    func backfilled() async throws {
        let cache = try TestCache()
        let records = (0..<6000).map { JSONText.object(["id": .string("o\($0)"), "notes": .string("n\($0 % 3)")]) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        try await cache.store.update("orders", key: "o7", body: .object(["notes": "mine"]), at: TestCache.now)
        try cache.store.close()
        let schema = TestCache.shop.replacing("notes: { type: string }", with: "notes: { type: string, index: true }")
        let asked = Counter()
        #expect(throws: CancellationError.self) {
            _ = try TestCache(schema: schema, in: cache.folder) { asked.next() < 60 }
        }
        let reopened = try TestCache(schema: schema, in: cache.folder)
        func count(_ text: String) throws -> Int? {
            var query = ListQuery(entity: "orders", count: true)
            query.filters = [FilterCondition(field: "notes", comparison: .equal, values: [text])]
            return try reopened.store.list(query).total
        }
        #expect(try count("n1") == 1999)
        #expect(try count("mine") == 1)
    }
}
