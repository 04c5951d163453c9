import GRDB
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

    @Test("locked files are waited for together as long as for one, and others are still read")
    func locked() async throws {
        let (locked, free) = (try TestCache(), try TestCache())
        let origin = CacheOrigin(schema: "shop", upstream: "https://a.example")
        for cache in [locked, free] {
            try await cache.store.claim(for: origin)
            try cache.store.close()
        }
        let other = try DatabaseQueue(path: locked.path)
        try other.inDatabase { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
        let origins = CacheOrigins(patience: .milliseconds(20))
        try other.inTransaction(.exclusive) { _ in
            #expect(origins.origin(of: locked.path) == nil)
            #expect(origins.patience == .zero)
            #expect(origins.origin(of: locked.path) == nil)
            #expect(origins.origin(of: free.path) == origin)
            return .rollback
        }
        #expect(origins.origin(of: locked.path) == origin)
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
