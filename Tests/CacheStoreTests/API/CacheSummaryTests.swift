import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Cache summary")
struct CacheSummaryTests {
    private let now = TestCache.now

    @Test("one read returns rows, queue and cursors")
    func summary() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let cursor = PullCursor(
            watermark: "2026-01-01T00:00:00Z", lastSyncedAt: now, heldDeletions: 3, error: "cannot be read")
        try await cache.store.setCursor(of: "orders", to: cursor)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: now)
        let summary = try cache.store.summary()
        #expect(summary.rows == ["orders": 2, "messages": 0])
        #expect(summary.count == PendingCount(pending: 1, failed: 0))
        #expect(summary.cursors == ["orders": cursor])
        #expect(summary.openConflicts == 0)
        #expect(summary.rescue == nil)
    }

    @Test("the account is known by its name, else by its id")
    func account() async throws {
        let cache = try TestCache()
        #expect(try cache.store.summary().account == nil)
        try await cache.store.setAccount("company-1", at: now)
        #expect(try cache.store.summary().account == "company-1")
        try await cache.store.setAccountName("Robin")
        #expect(try cache.store.summary().account == "Robin")
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
