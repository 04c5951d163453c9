import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Searches that take long")
struct LongSearchTests {
    private static let number = String(repeating: "1", count: 70)

    /// 500 clients called Smith, one of whom has a long number.
    private func filled(uptime: @escaping @Sendable () -> Duration = { .zero }) async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema, uptime: uptime)
        let records = (0..<500).map { number in
            JSONText.object([
                "id": .string("k\(number)"), "name": "Smith", "phone": .string(number == 7 ? Self.number : "\(number)"),
            ])
        }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        try await cache.store.completeSearch()
        return cache
    }

    @Test func `a search for a long text is read elsewhere`() async throws {
        let cache = try await filled()
        let (short, long) = try (SearchQuery("smith"), SearchQuery(Self.number))
        #expect(try await cache.store.search(long, limit: 5).hits.map(\.key) == ["k7"])
        // Now nothing can be read elsewhere.
        cache.store.longReads.close()
        #expect(try await cache.store.search(short, limit: 5).hits.count == 5)
        await #expect(throws: CacheError.self) { try await cache.store.search(long, limit: 5) }
    }

    @Test func `a list of what a long text finds is read elsewhere`() async throws {
        let cache = try await filled()
        var query = ListQuery(entity: "clients", limit: 5)
        query.search = try SearchQuery(Self.number)
        #expect(try cache.store.quickList(query) == nil)
        #expect(try await cache.store.anyList(query).count == 1)
        query.search = try SearchQuery("smith")
        #expect(try cache.store.quickList(query, thousands: 1000)?.count == 5)
    }

    @Test func `a search is given up once much time has passed, and read elsewhere`() async throws {
        let asked = Counter()
        let cache = try await filled { .milliseconds(20) * asked.next() }
        let query = try SearchQuery("smith")
        #expect(try await cache.store.search(query, limit: 100).hits.count == 100)
        cache.store.longReads.close()
        await #expect(throws: CacheError.self) { try await cache.store.search(query, limit: 100) }
    }
}
