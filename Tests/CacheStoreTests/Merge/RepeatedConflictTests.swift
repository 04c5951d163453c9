import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Conflicts of a change that waits for long")
struct RepeatedConflictTests {
    @Test("when the upstream shows another value each time, the first nine and the last are kept")
    func bounded() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n"))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        for number in 1...30 { _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs \#(number)"}]"#) }
        let conflicts = try cache.store.conflicts(before: nil, open: false, limit: 100).conflicts
        #expect(conflicts.map { $0["server"]?.plain } == [30, 9, 8, 7, 6, 5, 4, 3, 2, 1].map { "theirs \($0)" })
        #expect(conflicts.first?["base"] == "theirs 29" && conflicts.first?["local"] == "mine")
        #expect(try cache.record("orders", "a")?["notes"] == "mine")
    }
}
