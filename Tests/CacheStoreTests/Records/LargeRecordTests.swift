import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The upstream can send any number of records of up to 8 MiB each.
@Suite("Large records")
struct LargeRecordTests {
    private static let large = String(repeating: "x", count: 3 << 20)

    private func cache(talks: Int) async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        let records = (0..<talks).map { #"{"id":"t\#($0)","more":"\#(Self.large)"}"# }
        _ = try await cache.pull("talks", "[\(records.joined(separator: ","))]")
        return cache
    }

    @Test("only as many are read at once as fit into memory, but at least one")
    func bounded() async throws {
        let cache = try await cache(talks: 7)
        let (store, table) = (cache.store, try cache.store.table("talks"))
        func keys(after pk: Int64) async throws -> [String] {
            try await store.writer.write { db in
                try store.context(db, at: TestCache.now).writer(table).images(after: pk, limit: 9).map(\.key)
            }
        }
        // Each has two texts: the server's version, and what readers see.
        #expect(try await keys(after: 0) == ["t0", "t1"])
        #expect(try await keys(after: 3) == ["t3", "t4"])
        #expect(try await keys(after: 6) == ["t6"])
        #expect(try await keys(after: 7) == [])
    }

    @Test("the figures of many are computed, even if not all fit into memory")
    func figures() async throws {
        let cache = try await cache(talks: 7)
        let lines = (0..<14).map { #"{"id":"l\#($0)","talk_id":"t\#($0 % 7)","cost":\#($0)}"# }
        _ = try await cache.pull("lines", "[\(lines.joined(separator: ","))]")
        for talk in 0..<7 {
            #expect(try cache.values("talks", "t\(talk)", "line_count", "cost") == ["2", "\(7 + 2 * talk).00"])
        }
    }

    @Test("a new indexed field is filled in all of them at the next start")
    func backfilled() async throws {
        let cache = try await cache(talks: 7)
        let schema = DerivedFieldSchema.yaml.replacing(
            "line_count: {", with: "more: { type: string, index: true }\n      line_count: {")
        let reopened = try cache.reopened(schema: schema)
        var query = ListQuery(entity: "talks", count: true)
        query.filters = [FilterCondition(field: "more", comparison: .null, values: ["false"])]
        #expect(try reopened.store.list(query).total == 7)
    }

    @Test("indexes are rebuilt even if values are too long to be sorted")
    func rebuilt() async throws {
        let cache = try await cache(talks: 2)
        let indexed = DerivedFieldSchema.yaml.replacing(
            "line_count: {", with: "more: { type: string, index: true }\n      line_count: {")
        let sorted = indexed.replacing("sort: -unread_count", with: "sort: more")
        var reopened = try cache.reopened(schema: indexed)
        reopened = try reopened.reopened(schema: sorted)
        var query = ListQuery(entity: "talks", count: true)
        query.filters = [FilterCondition(field: "more", comparison: .null, values: ["false"])]
        #expect(try reopened.store.list(query).total == 2)
        #expect(try reopened.store.inconsistencies() == [])
    }

    @Test("those that a pull did not see are loaded as far as they fit into memory, and all are deleted")
    func unseen() async throws {
        let cache = try await cache(talks: 7)
        let seen = try cache.store.startDeletionSweep(of: "talks")
        let records = try cache.store.unseen(of: "talks", seen, limit: 100, at: TestCache.now)
        #expect(records.map(\.key) == (0..<7).map { "t\($0)" })
        #expect(records.map { $0.remote != nil } == [true, true, true, true, true, true, false])
        #expect(try await cache.store.deleteUnseen(of: "talks", seen, at: TestCache.now) == 7)
    }

    @Test("the latest values of many are computed, even if not all fit into memory")
    func latest() async throws {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        let talks = (0..<7).map { #"{"id":"t\#($0)"}"# }
        _ = try await cache.pull("talks", "[\(talks.joined(separator: ","))]")
        for talk in 0..<7 {
            let start = #""talk_id":"t\#(talk)","at":"2026-01-0"#
            let late = #"{"id":"b\#(talk)",\#(start)2T00:00:00Z","text":"b\#(Self.large)"}"#
            let early = #"{"id":"a\#(talk)",\#(start)1T00:00:00Z","text":"a\#(Self.large)"}"#
            _ = try await cache.pull("lines", "[\(late),\(early)]")
        }
        try await cache.store.writer.write { [store = cache.store] db in
            let context = store.context(db, at: TestCache.now)
            for talk in 0..<7 { context.records.stale.insert("t\(talk)", of: "talks", .children) }
            try context.finish()
        }
        for talk in 0..<7 {
            #expect(try cache.record("talks", "t\(talk)")?["last_text"]?.string?.prefix(2) == "bx")
        }
        #expect(try cache.store.inconsistencies() == [])
    }

    @Test("times and numbers of any length are compared by their beginnings")
    func long() async throws {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        let lines = [
            #"{"id":"a","talk_id":"t","at":"2026-01-01T00:00:00Z","text":"early","cost":"2.50"}"#,
            #"{"id":"b","talk_id":"t","at":"x\#(Self.large)","text":"late","cost":"9\#(Self.large)"}"#,
        ]
        _ = try await cache.pull("lines", "[\(lines.joined(separator: ","))]")
        #expect(try cache.values("talks", "t", "last_text", "cost") == [#""late""#, "2.50"])
    }
}
