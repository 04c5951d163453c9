import EntitySchema
import JSONText
import Testing

@testable import CacheStore

/// Lists of what is searched for, where so many match that the order's index is walked.
@Suite("Walking to what is searched for")
struct SearchWalkTests {
    private static let count = 900

    /// Every third has the word; ranks come in no order, some more than once, some not at all.
    private func filled(_ hasWord: (Int) -> Bool = { $0 % 3 == 0 }) async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema)
        let records = (0..<Self.count).map { number in
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

    private func walk(_ query: ListQuery, _ cache: TestCache) throws -> ReadConnection.Statement? {
        let list = try ListStatement(table: cache.store.table(query.entity), query: query)
        return try cache.store.readers.read { try list.walk?.statement(limit: query.limit, $0) }
    }

    @Test("page by page it is the list that sorting gives, upwards and downwards", arguments: [false, true])
    func pages(_ descending: Bool) async throws {
        let cache = try await filled()
        // As many as match in one page are sorted.
        let sorted = try query(descending, limit: Self.count)
        #expect(try walk(sorted, cache) == nil)
        let whole = try cache.keys(sorted)
        #expect(whole.count == Self.count / 3)
        var page = try query(descending, limit: 7)
        var keys: [String] = []
        repeat {
            #expect(try walk(page, cache) != nil)
            keys += try cache.keys(page)
            page.cursor = try cache.store.list(page).next
        } while page.cursor != nil
        #expect(keys == whole)
    }

    @Test("where all that match stand at the far end they are found all the same")
    func farEnd() async throws {
        let cache = try await filled { $0 * 7919 % 400 > 377 }
        let whole = try cache.keys(query(false, limit: Self.count))
        #expect(whole.count == 52)
        let first = try query(false, limit: 7)
        let statement = try #require(try walk(first, cache))
        let walked = try cache.store.readers.read { connection in
            var count = 0
            try connection.query(statement.sql, statement.arguments) { _ in
                count += 1
                return true
            }
            return count
        }
        #expect(walked == 0, "it was not given up")
        #expect(try cache.keys(first) == Array(whole.prefix(7)))
    }

    @Test("with a filter, or by a field without an index, what matches is sorted")
    func notWalked() async throws {
        let cache = try await filled()
        var filtered = try query(false, limit: 7)
        filtered.filters = [.init(field: "rank", comparison: .equal, values: ["r101"])]
        #expect(try walk(filtered, cache) == nil)
        var byName = try query(false, limit: 7)
        byName.sort = [SortTerm(field: "name", descending: false)]
        #expect(try walk(byName, cache) == nil)
    }
}
