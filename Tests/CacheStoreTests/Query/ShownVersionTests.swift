import JSONText
import Testing

@testable import CacheStore

/// Versions that are known without reading their records.
@Suite struct ShownVersionTests {
    private static func filled() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id": "a", "status": "open"}, {"id": "b", "status": "ready"}]"#)
        return cache
    }

    @Test func `a version is known from when it was kept until the next commit`() async throws {
        let cache = try await Self.filled()
        _ = try cache.store.shown("orders", key: "a")
        #expect(try cache.store.shownVersion(of: "orders", key: "a") == nil)
        let shown = try #require(try cache.store.shown("orders", key: "a", keepsVersion: true))
        #expect(try cache.store.shownVersion(of: "orders", key: "a") == shown.version)
        #expect(try cache.store.shownVersion(of: "orders", key: "b") == nil)

        _ = try await cache.pull("orders", #"[{"id": "b", "status": "open"}]"#)
        #expect(try cache.store.shownVersion(of: "orders", key: "a") == nil)
    }

    @Test func `the version of a record with labels is not kept as that of the record`() async throws {
        let cache = try await Self.filled()
        _ = try cache.store.shown("orders", key: "a", labels: true, keepsVersion: true)
        #expect(try cache.store.shownVersion(of: "orders", key: "a") == nil)
    }

    @Test func `as many versions are kept as have room`() throws {
        let versions = ShownVersions()
        let version = RecordVersion(of: Array("{}".utf8), ownLength: 1)
        for number in 0..<2500 {
            versions["k\(number)"] = version
            #expect(versions["k\(number)"] == version)
        }
        #expect(versions["k0"] == nil)
    }
}
