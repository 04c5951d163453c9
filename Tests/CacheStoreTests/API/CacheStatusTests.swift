import JSONText
import Testing

@testable import CacheStore

@Suite("Cache status")
struct CacheStatusTests {
    private let now = TestCache.now

    @Test("one read returns rows, queue and cursors")
    func standing() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let cursor = PullCursor(
            watermark: "2026-01-01T00:00:00Z", lastSyncedAt: now, heldDeletions: 3, error: "cannot be read")
        try await cache.store.setCursor(of: "orders", to: cursor)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: now)
        let standing = try cache.store.standing()
        #expect(standing.rows == ["orders": 2, "messages": 0])
        #expect(standing.count == PendingCount(pending: 1, failed: 0))
        #expect(standing.cursors == ["orders": cursor])
        #expect(standing.openConflicts == 0)
        #expect(standing.rescue == nil)
    }

    @Test("a read waits for a free connection and sees the last commit")
    func counts() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        for key in ["a", "b"] {
            try await cache.store.update("orders", key: key, body: .object(["notes": "x"]), at: now)
        }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try cache.store.pendingCount().pending } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 2, count: 20))
    }
}
