import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records whose keys come in another form")
struct OtherKeyFormTests {
    private let now = TestCache.now
    private static let small = "0b9c2f1e-58aa-4c3d-9f10-2b7d1c0a9e55"
    private static let capital = small.uppercased()

    private func pull(_ cache: TestCache, _ record: String, after seconds: Int = 1) async throws -> PageOutcome {
        try await cache.store.apply(
            PulledPage(entity: "orders", records: JSONText(parsing: "[\(record)]")), at: now + .seconds(seconds))
    }

    private func order(_ key: String, _ notes: String = "n") -> String { #"{"id":"\#(key)","notes":"\#(notes)"}"# }

    private func cache() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await pull(cache, order(Self.small))
        return cache
    }

    @Test("a list that writes keys in another form brings no record twice, and drift says so once")
    func list() async throws {
        let cache = try await cache()
        #expect(try await pull(cache, order(Self.capital)).written == 0)
        #expect(try await pull(cache, order(Self.capital, "m")).written == 1)
        #expect(try cache.store.rowCounts()["orders"] == 1)
        #expect(try cache.record("orders", Self.small)?["notes"] == "m")
        let drift = try cache.store.drift().filter { $0.field == "id" }
        #expect(drift.map(\.found) == [DriftTable.otherForm] && drift.map(\.count) == [1])
    }

    @Test("a tombstone deletes the record, whatever form its key has")
    func tombstone() async throws {
        let cache = try await cache()
        _ = try await pull(cache, #"{"id":"\#(Self.capital)","deleted_at":"2026-01-01T00:00:00Z"}"#)
        #expect(try cache.store.rowCounts()["orders"] == 0)
    }

    @Test("a record that was deleted here does not return under another form of its key")
    func deleted() async throws {
        let cache = try await cache()
        try await cache.store.delete("orders", key: Self.small, at: now)
        try await cache.send(answer: nil)
        _ = try await pull(cache, order(Self.capital), after: 20)
        #expect(try cache.store.rowCounts()["orders"] == 0)
    }
}
