import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists that take long")
struct LongListTests {
    private static let query = ListQuery(
        entity: "orders", filters: [.init(field: "notes", comparison: .notEqual, values: ["b"])], limit: 10)

    /// 2000 orders, among which no index finds those of the query.
    private func filled(uptime: @escaping @Sendable () -> Duration = { .zero }) async throws -> TestCache {
        let cache = try TestCache(uptime: uptime)
        let records = (0..<2000).map { number in
            JSONText.object(["id": .string("k\(number)"), "notes": number % 200 == 0 ? "a" : "b"])
        }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        return cache
    }

    @Test func `a list is given up once it has taken long, and others are read afterwards`() async throws {
        let cache = try await filled()
        #expect(try cache.store.quickList(Self.query, thousands: 1) == nil)
        #expect(try cache.store.quickList(Self.query, thousands: 1000)?.count == 10)
        #expect(try cache.store.record("orders", key: "k1") != nil)
    }

    @Test func `a list is given up once much time has passed, however little SQLite has done`() async throws {
        let asked = Counter()
        let cache = try await filled { .milliseconds(5) * asked.next() }
        #expect(try cache.store.quickList(Self.query) == nil)
        #expect(try cache.store.quickList(Self.query, thousands: 100_000)?.count == 10)
        #expect(try await cache.store.anyList(Self.query).count == 10)
    }

    @Test func `a list that takes long is read elsewhere, with the same result`() async throws {
        let cache = try await filled()
        let page = try await cache.store.anyList(Self.query, isLong: true)
        let expected = try cache.store.list(Self.query)
        #expect(page.records == expected.records && page.count == 10 && page.unindexed == ["notes"])
    }

    @Test func `a list whose filter looks into values is always read elsewhere`() async throws {
        let cache = try await filled()
        let inside: [FilterCondition] = [.test("notes", .contains, "A"), .not(.test("notes", .contains, "b"))]
        for condition in inside + [.all(inside), .any(inside)] {
            var query = ListQuery(entity: "orders", limit: 20)
            query.filters = [condition]
            #expect(try cache.store.quickList(query) == nil)
            #expect(try await cache.store.anyList(query).count == 10)
        }
        var query = ListQuery(entity: "orders", limit: 20)
        query.filters = [.test("notes", .starts, "A")]
        #expect(try cache.store.quickList(query, thousands: 1000)?.count == 10)
    }

    @Test func `any number of long lists are read, one after the other`() async throws {
        let cache = try await filled()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await cache.store.anyList(Self.query, isLong: true).count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 10, count: 20))
    }

    @Test func `a long list whose caller has gone is not read`() async throws {
        let cache = try await filled()
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cache.store.anyList(Self.query, isLong: true)
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func `no long list is read from a closed store`() async throws {
        let cache = try await filled()
        try cache.store.close()
        await #expect(throws: CacheError.self) { try await cache.store.anyList(Self.query, isLong: true) }
    }
}
