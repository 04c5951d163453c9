import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Figures that several writes of one transaction change")
struct FiguresOfManyWritesTests {
    private static func cache() async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("talks", #"[{"id":"t"},{"id":"u"}]"#)
        return cache
    }

    private static func line(_ number: Int, of talk: String) throws -> JSONText {
        try JSONText(parsing: #"{"id":"\#(talk)\#(number)","talk_id":"\#(talk)","cost":1}"#)
    }

    /// How often readers were told that the talk has changed.
    private static func changes(of talk: String, in cache: TestCache) throws -> Int {
        try cache.store.changes(since: 0, limit: 1000).events.filter { event in
            event.kind == "upserted" && event.document["entity"]?.string == "talks"
                && event.document["id"]?.string == talk
        }.count
    }

    @Test func `they are computed once, after all of the writes`() async throws {
        let cache = try await Self.cache()
        let before = try Self.changes(of: "t", in: cache)
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(5) { done in
                try transaction.create("lines", Self.line(done.count, of: "t"))
            } refused: { error, _ in
                throw error
            }
        }
        #expect(try cache.values("talks", "t", "line_count", "cost") == ["5", "5.00"])
        #expect(try Self.changes(of: "t", in: cache) == before + 1)
    }

    @Test func `a write to a record finds its figures, and so does a version that is expected`() async throws {
        let cache = try await Self.cache()
        let seen = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(3) { done -> String in
                guard done.count == 1 else { return try transaction.create("lines", Self.line(done.count, of: "t")) }
                try transaction.update("talks", key: "t", JSONText(parsing: #"{"helper_id":null}"#))
                return try transaction.shown("talks", key: "t").map { try JSONText($0.bytes)["line_count"]?.text ?? "" }
                    ?? ""
            } refused: { error, _ in
                throw error
            }
        }
        #expect(seen[1] == "1")
        #expect(try cache.values("talks", "t", "line_count") == ["2"])
    }

    @Test func `a refused write leaves the figures of the others right`() async throws {
        let cache = try await Self.cache()
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(6) { done -> String? in
                let number = done.count
                // It has the figures computed, and is undone.
                if number == 3 { _ = try transaction.shown("talks", key: "t") }
                let key = try transaction.create("lines", Self.line(number, of: number.isMultiple(of: 2) ? "t" : "u"))
                if number == 1 || number == 3 { throw CacheError.conflict("no") }
                return key
            } refused: { _, _ in
                nil
            }
        }
        #expect(try cache.values("talks", "t", "line_count", "cost") == ["3", "3.00"])
        #expect(try cache.values("talks", "u", "line_count", "cost") == ["1", "1.00"])
    }
}
