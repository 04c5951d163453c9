import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Searches with so many matches that the index of the order is walked.
@Suite("Search walks")
struct SearchWalkTests {
    /// Every third record has the word; ranks are unordered, some repeated, some missing.
    private func filled(_ count: Int = 900, _ hasWord: (Int) -> Bool = { $0 % 3 == 0 }) async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema)
        let records = (0..<count).map { number in
            JSONText.object([
                "id": .string("k\(number)"), "name": .string(hasWord(number) ? "Zoe \(number)" : "Bob \(number)"),
                "extra": .object(["rank": number % 50 == 0 ? .null : .string("r\(number * 7919 % 400 + 100)")]),
            ])
        }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        try await cache.store.completeSearch()
        return cache
    }

    private func query(_ descending: Bool, limit: Int) throws -> ListQuery {
        var query = ListQuery(
            entity: "clients", sort: [SortTerm(field: "rank", descending: descending)], limit: limit)
        query.search = try SearchQuery("zoe")
        return query
    }

    private func walks(_ query: ListQuery, _ cache: TestCache) throws -> Bool {
        let list = try ListStatement(
            table: cache.store.table(query.entity), query: query, context: cache.store.filterContext)
        return try cache.store.readers.read { connection in
            try list.walk?.found(limit: query.limit, connection) != nil
        }
    }

    @Test("page by page, a walk gives the same list as sorting, ascending and descending", arguments: [false, true])
    func pages(_ descending: Bool) async throws {
        let cache = try await filled()
        // Few records match for such a page.
        let sorted = try query(descending, limit: 900)
        #expect(try !walks(sorted, cache))
        let whole = try cache.keys(sorted)
        #expect(whole.count == 300)
        var page = try query(descending, limit: 7)
        var keys: [String] = []
        repeat {
            #expect(try walks(page, cache))
            keys += try cache.keys(page)
            page.cursor = try cache.store.list(page).next
        } while page.cursor != nil
        #expect(keys == whole)
    }

    @Test("matches at the far end of the order are still found", arguments: [3, 40, 100])
    func farEnd(_ limit: Int) async throws {
        let cache = try await filled(3000) { $0 * 7919 % 400 >= 360 }
        let whole = try cache.keys(query(false, limit: 1000))
        #expect(whole.count == 304)
        let first = try query(false, limit: limit)
        let walks = try walks(first, cache)
        #expect(walks == (limit == 40), "a small page is too far away, and a large one has few matches")
        #expect(try cache.keys(first) == Array(whole.prefix(limit)))
    }

    @Test("a walk after an edit finds what it brought, in its place")
    func afterEdit() async throws {
        let cache = try await filled()
        let page = try query(false, limit: 7)
        #expect(try !cache.keys(page).contains("k50"))
        try await cache.store.update("clients", key: "k50", body: .object(["name": "Zoe"]), at: TestCache.now)
        try await cache.store.catchUpSearch()
        #expect(try walks(page, cache))
        let keys = try cache.keys(page)
        #expect(keys.contains("k50"))
        #expect(try keys == Array(cache.keys(query(false, limit: 900)).prefix(7)))
    }

    @Test("with a filter, or by a field without an index, the matches are sorted")
    func notWalked() async throws {
        let cache = try await filled()
        var filtered = try query(false, limit: 7)
        filtered.filters = [.init(field: "rank", comparison: .equal, values: ["r101"])]
        #expect(try !walks(filtered, cache))
        var byName = try query(false, limit: 7)
        byName.sort = [SortTerm(field: "name", descending: false)]
        #expect(try !walks(byName, cache))
    }
}
