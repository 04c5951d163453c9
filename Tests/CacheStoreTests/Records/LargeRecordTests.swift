import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The upstream may make each record 8 MiB large, and as many as it likes of them.
@Suite("Large records")
struct LargeRecordTests {
    private static let large = String(repeating: "x", count: 3 << 20)

    private func cache(talks: Int) async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        let records = (0..<talks).map { #"{"id":"t\#($0)","more":"\#(Self.large)"}"# }
        _ = try await cache.pull("talks", "[\(records.joined(separator: ","))]")
        return cache
    }

    @Test("no more are read at once than fit into memory, and always one")
    func bounded() async throws {
        let cache = try await cache(talks: 7)
        let (store, table) = (cache.store, try cache.store.table("talks"))
        func keys(after pk: Int64) async throws -> [String] {
            try await store.writer.write { db in
                try store.context(db, at: TestCache.now).writer(table).images(after: pk, limit: 9).map(\.key)
            }
        }
        #expect(try await keys(after: 0) == ["t0", "t1", "t2"])
        #expect(try await keys(after: 3) == ["t3", "t4", "t5"])
        #expect(try await keys(after: 6) == ["t6"])
        #expect(try await keys(after: 7) == [])
    }

    @Test("the figures of many are computed, though not all fit into memory")
    func figures() async throws {
        let cache = try await cache(talks: 7)
        let lines = (0..<14).map { #"{"id":"l\#($0)","talk_id":"t\#($0 % 7)","cost":\#($0)}"# }
        _ = try await cache.pull("lines", "[\(lines.joined(separator: ","))]")
        for talk in 0..<7 {
            #expect(try cache.values("talks", "t\(talk)", "line_count", "cost") == ["2", "\(7 + 2 * talk).00"])
        }
    }

    @Test("a new indexed field is filled for all of them at the next start")
    func backfilled() async throws {
        let cache = try await cache(talks: 7)
        let schema = DerivedFieldSchema.yaml.replacing(
            "line_count: {", with: "more: { type: string, index: true }\n      line_count: {")
        let reopened = try cache.reopened(schema: schema)
        var query = ListQuery(entity: "talks", count: true)
        query.filters = [ListQuery.Filter(field: "more", comparison: .null, values: ["false"])]
        #expect(try reopened.store.list(query).total == 7)
    }
}
