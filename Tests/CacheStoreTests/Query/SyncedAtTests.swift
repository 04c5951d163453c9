import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists by the time of syncing")
struct SyncedAtTests {
    private let start = TestCache.now

    /// Orders k0… that came in batches of four, a minute apart; some have been edited since, and two were created here.
    private func filled() async throws -> TestCache {
        let cache = try TestCache()
        for batch in 0..<6 {
            let records = (0..<4).map { JSONText.object(["id": .string("k\(4 * batch + $0)"), "total": 1]) }
            let page = PulledPage(entity: "orders", records: JSONText.array(records).text)
            _ = try await cache.store.apply(page, at: start + .seconds(Int64(60 * batch)))
        }
        for key in ["k3", "k4", "k20"] {
            try await cache.store.update("orders", key: key, body: JSONText(parsing: #"{"notes":"x"}"#), at: start)
        }
        for key in ["new1", "new2"] {
            _ = try await cache.store.create("orders", body: .object(["id": .string(key)]), at: start)
        }
        return cache
    }

    private func times(_ query: ListQuery, _ cache: TestCache) throws -> [String?] {
        try JSONText(cache.store.list(query).records).elements.map { $0.at(path: "_sync.synced_at")?.string }
    }

    private func query(_ comparison: FilterComparison.Operation, _ value: String) -> ListQuery {
        let filter = FilterCondition(field: "synced_at", comparison: comparison, values: [value])
        return ListQuery(entity: "orders", filters: [filter], limit: 1000)
    }

    @Test("a filter compares with the time that _sync shows, in any notation")
    func filters() async throws {
        let cache = try await filled()
        let third = (start + .seconds(120)).description
        #expect(third == "2026-11-21T10:44:00.000Z")
        let all = try times(ListQuery(entity: "orders", limit: 1000), cache)
        #expect(all.count == 26 && all.count(where: { $0 == nil }) == 2)
        for text in [third, "2026-11-21T10:44:00Z", "2026-11-21T11:44:00+01:00"] {
            for (comparison, count) in [
                (FilterComparison.Operation.equal, 4), (.atLeast, 16), (.greater, 12), (.atMost, 12), (.less, 8),
                (.notEqual, 20),
            ] {
                #expect(try times(query(comparison, text), cache).count == count, "\(comparison) \(text)")
            }
        }
        #expect(try times(query(.atLeast, "2026-11-21"), cache).count == 24)
        #expect(Set(try cache.keys(query(.null, "true"))) == ["new1", "new2"])
        #expect(try cache.keys(query(.null, "false")).count == 24)
        #expect(throws: CacheError.self) { try times(query(.atLeast, "yesterday"), cache) }
    }

    @Test("a list sorts by it, records that were never synced last in descending order, and pages by cursor")
    func order() async throws {
        let cache = try await filled()
        for sort in ["synced_at", "-synced_at", "synced_at,-status", "total,-synced_at"] {
            let terms = sort.split(separator: ",").map { SortTerm(text: String($0)) }
            var query = ListQuery(entity: "orders", sort: terms, limit: 1000)
            let all = try cache.keys(query)
            #expect(Set(all).count == 26)
            if sort == "-synced_at" {
                let shown = try times(query, cache).map { $0 ?? "" }
                #expect(shown == shown.sorted(by: >))
            }
            for limit in [1, 3, 5] {
                query.limit = limit
                query.cursor = nil
                var pages: [String] = []
                repeat {
                    let page = try cache.store.list(query)
                    pages += try JSONText(page.records).elements.compactMap { $0["id"]?.string }
                    query.cursor = page.next
                } while query.cursor != nil
                #expect(pages == all, "\(sort) \(limit)")
            }
        }
    }

    @Test("it has no index, and a list that reads the whole table says so")
    func unindexed() async throws {
        let cache = try await filled()
        #expect(try cache.store.list(query(.atLeast, "2026-11-21")).unindexed == ["synced_at"])
        let sorted = ListQuery(entity: "orders", sort: [SortTerm(text: "-synced_at")])
        #expect(try cache.store.list(sorted).unindexed == ["synced_at"])
    }

    @Test("an entity's own field of the name counts instead")
    func ownField() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("total: { type: money }", with: "synced_at: { type: integer }"))
        _ = try await cache.pull("orders", #"[{"id":"a","synced_at":7},{"id":"b","synced_at":5}]"#)
        #expect(try cache.keys(query(.atLeast, "6")) == ["a"])
        #expect(try cache.keys(ListQuery(entity: "orders", sort: [SortTerm(text: "synced_at")])) == ["b", "a"])
    }
}
