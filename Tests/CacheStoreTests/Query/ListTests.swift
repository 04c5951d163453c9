import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists")
struct ListTests {
    /// Orders k0…, every third without a time, several with the same time.
    private func filled(_ count: Int) async throws -> TestCache {
        let cache = try TestCache()
        let records = (0..<count).map { number in
            JSONText.object([
                "id": .string("k\(number)"), "status": number % 2 == 0 ? "open" : "ready", "total": .integer(number),
                "created_at": number % 3 == 0 ? .null : .string("2026-01-\(10 + number % 7)"),
            ])
        }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        return cache
    }

    private func pages(_ query: ListQuery, _ cache: TestCache) throws -> [String] {
        var query = query
        var keys: [String] = []
        repeat {
            let page = try cache.store.list(query)
            keys += try JSONText(page.records).elements.compactMap { $0["id"]?.string }
            query.cursor = page.next
        } while query.cursor != nil
        return keys
    }

    @Test("a page of large records ends early, and the pages together have them all")
    func largeRecords() async throws {
        let cache = try TestCache()
        let text = String(repeating: "x", count: 1 << 20)
        let records = (0..<7).map { JSONText.object(["id": .string("k\($0)"), "notes": .string(text)]) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        let query = ListQuery(entity: "orders", sort: [SortTerm(text: "id")])
        let page = try cache.store.list(query)
        #expect(page.count == 4 && page.next != nil)
        #expect(try pages(query, cache) == (0..<7).map { "k\($0)" })
    }

    @Test(
        "paging by cursor returns the same records as one large page, in any order",
        arguments: ["", "created_at", "-created_at", "-total", "status,-created_at", "-status,total", "id", "-id"],
        [1, 7, 50])
    func paging(_ sort: String, _ limit: Int) async throws {
        let cache = try await filled(60)
        let terms = sort.split(separator: ",").map { SortTerm(text: String($0)) }
        let all = try cache.keys(ListQuery(entity: "orders", sort: terms, limit: 1000))
        #expect(Set(all).count == 60)
        #expect(try pages(ListQuery(entity: "orders", sort: terms, limit: limit), cache) == all)
    }

    @Test("the default order is newest first, with records without a time last")
    func ownOrder() async throws {
        let cache = try await filled(9)
        let times = try JSONText(cache.store.list(ListQuery(entity: "orders")).records).elements.map {
            $0["created_at"]?.string ?? ""
        }
        #expect(times == times.sorted(by: >))
    }

    @Test("what is no time in a field of times is listed after the times, and false before true")
    func noTimes() async throws {
        let cache = try TestCache()
        _ = try await cache.pull(
            "orders",
            #"[{"id":"a","created_at":true},{"id":"b","created_at":false},{"id":"c","created_at":"2026-01-10"}]"#)
        #expect(try cache.keys(ListQuery(entity: "orders", sort: [SortTerm(text: "created_at")])) == ["c", "b", "a"])
    }

    @Test("filters compare by the field's type and accept several values")
    func filters() async throws {
        let cache = try await filled(20)
        func keys(_ filter: FilterCondition...) throws -> Int {
            try cache.keys(ListQuery(entity: "orders", filters: filter, limit: 1000)).count
        }
        #expect(try keys(.init(field: "status", comparison: .equal, values: ["open"])) == 10)
        #expect(try keys(.init(field: "status", comparison: .equal, values: ["open", "ready"])) == 20)
        #expect(try keys(.init(field: "total", comparison: .atLeast, values: ["9.5"])) == 10)
        #expect(try keys(.init(field: "created_at", comparison: .null, values: ["true"])) == 7)
        #expect(try keys(.init(field: "created_at", comparison: .less, values: ["2026-01-12T00:00:00+00:00"])) == 4)
        #expect(try keys(.init(field: "id", comparison: .equal, values: ["k3' OR 1=1 --"])) == 0)
    }

    @Test(
        "an invalid query is refused",
        arguments: [
            ListQuery(entity: "orders", filters: [.init(field: "nope", comparison: .equal, values: ["1"])]),
            ListQuery(entity: "orders", filters: [.init(field: "passcode", comparison: .equal, values: ["1"])]),
            ListQuery(entity: "orders", filters: [.init(field: "total", comparison: .equal, values: ["much"])]),
            ListQuery(entity: "orders", sort: [SortTerm(field: "passcode", descending: false)]),
            ListQuery(entity: "orders", cursor: "bm90IG91cnM"), ListQuery(entity: "orders", cursor: "%%%"),
        ])
    func refuses(_ query: ListQuery) async throws {
        let cache = try await filled(1)
        #expect(throws: CacheError.self) { try cache.store.list(query) }
    }

    @Test("a cursor of one list is refused by another")
    func foreignCursor() async throws {
        let cache = try await filled(5)
        let next = try cache.store.list(ListQuery(entity: "orders", limit: 2)).next
        let other = ListQuery(entity: "orders", sort: [SortTerm(text: "total")], limit: 2, cursor: next)
        #expect(throws: CacheError.self) { try cache.store.list(other) }
    }

    @Test("records with queued or failed changes can be listed")
    func syncFilter() async throws {
        let cache = try await filled(5)
        try await cache.store.update("orders", key: "k1", body: JSONText(parsing: #"{"notes":"x"}"#), at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "orders", sync: .pending)) == ["k1"])
        #expect(try cache.keys(ListQuery(entity: "orders", sync: .error)).isEmpty)
    }
}
