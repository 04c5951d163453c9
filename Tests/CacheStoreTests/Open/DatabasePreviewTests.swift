import EntitySchema
import Foundation
import GRDB
import SQLiteStore
import Secrets
import TestSupport
import Testing

@testable import CacheStore

@Suite("Looking at a database before it is opened")
struct DatabasePreviewTests {
    @Test("a preview has the origin, and the store that opens it reads on over the same connection")
    func handedOver() async throws {
        let cache = try TestCache()
        try await cache.store.claim(for: CacheOrigin(schema: "shop", upstream: "https://a.example"))
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try cache.store.close()
        let previews = DatabasePreviews()
        #expect(previews.origin(of: cache.path) == CacheOrigin(schema: "shop", upstream: "https://a.example"))
        #expect(!previews.needsMigration(cache.path))
        let store = try CacheStore(
            path: cache.path, schema: EntitySchema(yaml: TestCache.shop, file: "shop.yaml"),
            sealer: SecretSealer.sample(), preview: previews.take(cache.path), makeID: { UUID().uuidString })
        #expect(try store.record("orders", key: "a") != nil)
        try store.close()
        // Nothing has the file open: a last connection removes the log.
        #expect(!FileManager.default.fileExists(atPath: cache.path + "-wal"))
    }

    @Test("a file that appears after the first question is looked at again")
    func missing() throws {
        let folder = try TemporaryFolder()
        let previews = DatabasePreviews()
        #expect(previews.origin(of: folder.path("cache.db")) == nil)
        #expect(previews.take(folder.path("cache.db")) == nil)
        let cache = try TestCache(in: folder)
        try cache.store.close()
        #expect(previews.take(cache.path) == nil)
        #expect(!previews.needsMigration(cache.path))
        #expect(previews.take(cache.path)?.mark != nil)
    }

    @Test("a preview of another file is not handed out")
    func otherFile() throws {
        let (one, other) = (try TestCache(), try TestCache())
        for cache in [one, other] { try cache.store.close() }
        let previews = DatabasePreviews()
        #expect(!previews.needsMigration(one.path))
        #expect(previews.take(other.path) == nil)
    }

    @Test("a database that lacks the last migration needs one")
    func older() async throws {
        let cache = try TestCache()
        try await cache.store.pool.write { db in
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [Migrations.names.last])
        }
        try cache.store.close()
        #expect(DatabasePreview(path: cache.path).needsMigration)
        #expect(!DatabasePreview(path: cache.path + ".not").needsMigration)
    }
}
