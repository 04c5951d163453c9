import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Cursors")
struct CursorRowTests {
    @Test("the end of a pull keeps the watermark where a read of a record has moved it back meanwhile")
    func movedBack() async throws {
        let store = try TestCache().store
        try await store.setCursor(of: "orders", to: PullCursor(watermark: "2026-11-20T10:00:00.000Z"))
        var pull = try store.cursor(of: "orders")
        var read = try store.cursor(of: "orders")
        read.goBack(to: "2026-11-20T09:00:00.000Z")
        try await store.setCursor(of: "orders", to: read)

        pull.watermark = "2026-11-20T11:00:00.000Z"
        try await store.setCursor(of: "orders", to: pull)
        #expect(try store.cursor(of: "orders").watermark == "2026-11-20T09:00:00.000Z")
    }

    @Test("the pull after one that kept the watermark back moves it")
    func movedOn() async throws {
        let store = try TestCache().store
        try await store.setCursor(of: "orders", to: PullCursor(watermark: "2026-11-20T09:00:00.000Z"))
        var pull = try store.cursor(of: "orders")
        pull.watermark = "2026-11-20T11:00:00.000Z"
        try await store.setCursor(of: "orders", to: pull)
        #expect(try store.cursor(of: "orders").watermark == "2026-11-20T11:00:00.000Z")
    }

    @Test("another list than the one that filled the cache is read from the beginning")
    func otherList() async throws {
        let store = try TestCache().store
        let watermark = "2026-11-20T09:00:00.000Z"
        let cursor = PullCursor(watermark: watermark, lastSyncedAt: TestCache.now, lastFullAt: TestCache.now)
        try await store.setCursor(of: "orders", to: cursor)
        try await store.adoptList("one", of: "orders")
        try await store.adoptList("one", of: "orders")
        #expect(try store.cursor(of: "orders").watermark == watermark, "a cache of before does not say what filled it")
        try await store.adoptList("two", of: "orders")
        let adopted = try store.cursor(of: "orders")
        #expect(adopted.watermark == nil && adopted.lastFullAt == nil && adopted.lastSyncedAt == TestCache.now)
    }

    @Test("what another list of deletions has named is held no longer")
    func otherDeletions() async throws {
        let store = try TestCache().store
        let watermark = "2026-11-20T09:00:00.000Z"
        for name in ["orders", "orders:deleted"] {
            let cursor = PullCursor(watermark: watermark, heldDeletions: 3, held: "3 orders are marked as deleted")
            try await store.setCursor(of: name, to: cursor)
        }
        try await store.adoptDeletions("one", of: "orders", cursor: "orders:deleted")
        #expect(try store.cursor(of: "orders").heldDeletions == 3)
        try await store.adoptDeletions("two", of: "orders", cursor: "orders:deleted")
        let (orders, deletions) = (try store.cursor(of: "orders"), try store.cursor(of: "orders:deleted"))
        #expect(orders.heldDeletions == 0 && orders.held == nil && orders.watermark == nil)
        #expect(deletions.heldDeletions == 0 && deletions.held == nil && deletions.watermark == watermark)
    }

    @Test("what is fetched for each record is fetched again once it is found elsewhere")
    func otherDetails() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","updated_at":"2026-11-20T09:00:00Z"}]"#)
        func outdated() throws -> [CacheStore.OutdatedParent] {
            try cache.store.parents(of: "orders", after: 0, all: false, limit: 9)
        }
        let fetched = try outdated().map { PulledPage.Detail(key: $0.key, value: $0.value) }
        let page = PulledPage(entity: "orders", records: "[]", details: fetched)
        _ = try await cache.store.apply(page, at: TestCache.now)
        try await cache.store.adoptDetails("one", of: "orders")
        try await cache.store.adoptDetails("one", of: "orders")
        #expect(try outdated().isEmpty)
        try await cache.store.adoptDetails("two", of: "orders")
        #expect(try outdated().map(\.key) == ["a"])
    }
}
