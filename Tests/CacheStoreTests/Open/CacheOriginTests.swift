import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("The origin of a cache")
struct CacheOriginTests {
    @Test("the origin is recorded once and read back from the closed file")
    func claims() async throws {
        let cache = try TestCache()
        let origin = CacheOrigin(schema: "shop", upstream: "https://a.example/")
        #expect(CacheOrigin(ofDatabaseAt: cache.path) == nil)
        try await cache.store.claim(for: origin)
        try await cache.store.claim(for: CacheOrigin(schema: "shop", upstream: "https://b.example"))
        try cache.store.close()
        #expect(CacheOrigin(ofDatabaseAt: cache.path) == CacheOrigin(schema: "shop", upstream: "https://a.example"))
        #expect(CacheOrigin(ofDatabaseAt: cache.path + ".not") == nil)
    }

    @Test("the account and whether changes wait are read from the closed file")
    func owner() async throws {
        let cache = try TestCache()
        #expect(CacheOwner(ofDatabaseAt: cache.path) == CacheOwner(account: nil, hasQueue: false))
        try await cache.store.setAccount("company 1", at: TestCache.now)
        #expect(CacheOwner(ofDatabaseAt: cache.path) == CacheOwner(account: "company 1", hasQueue: false))
        _ = try await cache.store.create("orders", body: .object(["notes": "new"]), at: TestCache.now)
        try cache.store.close()
        #expect(CacheOwner(ofDatabaseAt: cache.path) == CacheOwner(account: "company 1", hasQueue: true))
        #expect(CacheOwner(ofDatabaseAt: cache.path + ".not") == nil)
    }
}
