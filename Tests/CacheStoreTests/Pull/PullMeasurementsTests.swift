import EntitySchema
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lateness of records")
struct PullMeasurementsTests {
    private let watermark = "2026-01-01T12:00:00.000Z"

    private func lateness(_ records: String, _ cache: TestCache) async throws -> Int64 {
        try await cache.store.apply(
            PulledPage(entity: "orders", records: records, watermark: watermark), at: TestCache.now
        ).lateness
    }

    @Test("a new record from before the watermark is late by the difference")
    func new() async throws {
        let cache = try TestCache()
        let page =
            #"[{"id":"a","updated_at":"2026-01-01T11:59:50Z"},{"id":"b","updated_at":"2026-01-01T12:59:58+01:00"}]"#
        #expect(try await lateness(page, cache) == 10_000)
    }

    @Test("a known record is late only if its change time differs from the cached one")
    func known() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"x","updated_at":"2026-01-01T11:00:00Z"}]"#)
        let same = #"[{"id":"a","notes":"y","updated_at":"2026-01-01T11:00:00.000Z"}]"#
        #expect(try await lateness(same, cache) == 0)
        #expect(try await lateness(#"[{"id":"a","updated_at":"2026-01-01T11:59:00Z"}]"#, cache) == 60_000)
        #expect(try await lateness(#"[{"id":"a","updated_at":"2026-01-01T11:59:00Z"}]"#, cache) == 0)
    }

    @Test(
        "a record at the watermark, after it, a day before it or without a time is not late",
        arguments: ["2026-01-01T12:00:00Z", "2026-01-02", "2025-12-31T11:59:59Z", "soon", ""])
    func notLate(time: String) async throws {
        #expect(try await lateness(#"[{"id":"a","updated_at":"\#(time)"}]"#, TestCache()) == 0)
    }

    @Test("the greatest lateness is stored with its page")
    func kept() async throws {
        let cache = try TestCache()
        var cursor = PullCursor(watermark: watermark, lateness: 1000)
        cursor.pull = PullInProgress(kind: .changes, since: watermark)
        for (seconds, kept) in [(57, 3000), (59, 3000)] as [(Int, Int64)] {
            let records = #"[{"id":"a","updated_at":"2026-01-01T11:59:\#(seconds)Z"}]"#
            let page = PulledPage(entity: "orders", records: records, cursor: cursor, watermark: watermark)
            _ = try await cache.store.apply(page, at: TestCache.now)
            cursor = try cache.store.cursor(of: "orders")
            #expect(cursor.lateness == kept)
        }
    }
}
