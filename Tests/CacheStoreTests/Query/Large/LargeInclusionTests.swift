import EntitySchema
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Included records that are large")
struct LargeInclusionTests {
    /// The order a with two messages of this size.
    private func filled(_ size: Int) async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let text = String(repeating: "x", count: size)
        let messages = ["m1", "m2"].map { #"{"id":"\#($0)","order_id":"a","text":"\#(text)"}"# }
        _ = try await cache.pull("messages", "[\(messages.joined(separator: ","))]")
        return cache
    }

    private func inclusions(_ paths: String..., cache: TestCache) throws -> [Inclusion] {
        let entity = try #require(cache.store.schema["orders"])
        return try Inclusion.tree(paths, of: entity, in: cache.store.schema)
    }

    private static let query = ListQuery(entity: "orders", limit: 10)

    @Test func `a page with many bytes of related records is read elsewhere`() async throws {
        let cache = try await filled(600_000)
        let include = try inclusions("messages", cache: cache)
        #expect(try cache.store.quickList(Self.query, include: include, thousands: 1000) == nil)
        let page = try await cache.store.anyList(Self.query, include: include)
        #expect(page.count == 1 && page.records.count > 1_200_000)
        let small = try await filled(60_000)
        #expect(try small.store.quickList(Self.query, include: include, thousands: 1000)?.count == 1)
    }

    @Test func `the relations of a page count together`() async throws {
        let cache = try await filled(300_000)
        let one = try inclusions("messages", cache: cache)
        #expect(try cache.store.quickList(Self.query, include: one, thousands: 1000)?.count == 1)
        // Each message has its order, which has the messages again.
        let two = try inclusions("messages.order.messages", cache: cache)
        #expect(try cache.store.quickList(Self.query, include: two, thousands: 1000) == nil)
    }

    @Test func `a page that may include a large record is read elsewhere, though it includes none`() async throws {
        let cache = try await filled(1_100_000)
        _ = try await cache.pull("orders", #"[{"id":"b"}]"#)
        _ = try await cache.pull("messages", #"[{"id":"m1","order_id":"b"},{"id":"m2","order_id":"b"}]"#)
        #expect(try cache.store.quickList(Self.query, thousands: 1000) != nil)
        let include = try inclusions("messages", cache: cache)
        #expect(try cache.store.quickList(Self.query, include: include, thousands: 1000) == nil)
        #expect(try await cache.store.anyList(Self.query, include: include).count == 2)
    }

    @Test func `one record with many bytes of related records is read elsewhere`() async throws {
        for (size, isElsewhere) in [(600_000, true), (60_000, false)] {
            let cache = try await filled(size)
            let include = try inclusions("messages", cache: cache)
            let shown = try #require(try await cache.store.anyShown("orders", key: "a", include: include))
            #expect(JSONText(validated: shown.bytes).at(path: "_include.messages")?.elements.count == 2)
            // Now nothing can be read elsewhere.
            cache.store.longReads.close()
            let again = try? await cache.store.anyShown("orders", key: "a", include: include)
            #expect((again == nil) == isElsewhere)
            #expect(try await cache.store.anyShown("orders", key: "none", include: include) == nil)
        }
    }
}
