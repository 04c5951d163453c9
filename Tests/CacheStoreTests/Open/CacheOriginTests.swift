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
}
