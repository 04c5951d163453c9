import Foundation
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("What a person changes in a closed database")
struct ClosedDatabaseTests {
    private let old = CacheOrigin(schema: "shop", upstream: "https://old.example")
    private let new = CacheOrigin(schema: "shop", upstream: "https://new.example/")

    /// A closed cache with a record of the old upstream.
    private func closed() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await cache.store.claim(for: old)
        try cache.store.close()
        return cache
    }

    @Test("a cache whose upstream has moved keeps its records at the new address")
    func moves() async throws {
        let cache = try await closed()
        try ClosedDatabase(path: cache.path).moveUpstream(to: new)
        #expect(CacheOrigin(ofDatabaseAt: cache.path) == new)
        let again = try TestCache(in: cache.folder)
        #expect(try again.record("orders", "a") != nil)
    }

    @Test("a cache that has the address already, or is of another schema, is refused and stays as it is")
    func refused() async throws {
        let cache = try await closed()
        let database = ClosedDatabase(path: cache.path)
        let words = "already belongs to the upstream https://old.example; for the database of the former"
        let atHome = #expect(throws: CacheError.self) { try database.moveUpstream(to: old) }
        #expect(atHome?.incompatibility?.contains(words) == true)
        let ofOther = #expect(throws: CacheError.self) {
            try database.moveUpstream(to: CacheOrigin(schema: "other", upstream: "https://new.example"))
        }
        #expect(ofOther?.incompatibility?.contains("is not a cache of the schema other") == true)
        #expect(CacheOrigin(ofDatabaseAt: cache.path) == old)
    }

    @Test("a cache that has forgotten its key opens with another one")
    func forgets() async throws {
        let cache = try await closed()
        let error = #expect(throws: CacheError.self) { try TestCache(in: cache.folder, key: 2) }
        #expect(error?.incompatibility?.contains("sealed with another key") == true)
        try ClosedDatabase(path: cache.path).forgetKey()
        let again = try TestCache(in: cache.folder, key: 2)
        #expect(try again.record("orders", "a") != nil)
    }

    @Test("a file that is set aside is whole, without a log, and the next cache in its place is empty")
    func setsAside() async throws {
        let cache = try await closed()
        let aside = try ClosedDatabase(path: cache.path).setAside(at: TestCache.now)
        #expect(aside == "\(cache.path).aside-20261121T104200.000Z")
        #expect(try DatabaseCopy.problems(of: aside).isEmpty)
        #expect(CacheOrigin(ofDatabaseAt: aside) == old)
        let next = try TestCache(in: cache.folder)
        #expect(try next.record("orders", "a") == nil)
    }

    @Test("a file that another program has open is not set aside")
    func open() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        let database = ClosedDatabase(path: cache.path)
        let error = #expect(throws: CacheError.self) { try database.setAside(at: TestCache.now) }
        #expect(error?.writeFailure?.contains("another program has \(cache.path) open") == true)
        #expect(try cache.record("orders", "a") != nil)
    }
}
