import Foundation
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("A database that is moved while it is open")
struct MovedDatabaseTests {
    private static func write(_ key: String, in cache: TestCache) async throws {
        _ = try await cache.store.write(at: TestCache.now) { try $0.create("orders", .object(["id": .string(key)])) }
    }

    @Test("takes no local write, which would be lost with the file, but still takes what the upstream answers")
    func refused() async throws {
        let cache = try TestCache()
        try await Self.write("a", in: cache)
        // Opens the connections that read, while there is a file to open.
        #expect(try cache.record("orders", "a") != nil && cache.store.pendingCount().pending == 1)
        let elsewhere = cache.folder.path("elsewhere.db")
        try FileManager.default.moveItem(atPath: cache.path, toPath: elsewhere)
        let error = await #expect(throws: CacheError.self) { try await Self.write("b", in: cache) }
        #expect(error?.writeFailure?.contains("deleted, moved or replaced") == true)
        _ = try await cache.pull("orders", #"[{"id": "z"}]"#)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: cache.path)
        try await Self.write("c", in: cache)
        #expect(try cache.store.pendingCount().pending == 2)
        #expect(try cache.record("orders", "z") != nil && cache.record("orders", "b") == nil)
    }

    @Test("takes none either if another file is in its place")
    func replaced() async throws {
        let cache = try TestCache()
        let elsewhere = cache.folder.path("elsewhere.db")
        try FileManager.default.moveItem(atPath: cache.path, toPath: elsewhere)
        try FileManager.default.copyItem(atPath: elsewhere, toPath: cache.path)
        await #expect(throws: CacheError.self) { try await Self.write("a", in: cache) }
        try FileManager.default.removeItem(atPath: cache.path)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: cache.path)
    }

    @Test("takes none once its log is deleted, and closing it keeps what it took before", arguments: [false, true])
    func logDeleted(isRemade: Bool) async throws {
        let cache = try TestCache()
        try await Self.write("a", in: cache)
        try FileManager.default.removeItem(atPath: cache.path + "-wal")
        if isRemade { try Data().write(to: URL(filePath: cache.path + "-wal")) }
        let error = await #expect(throws: CacheError.self) { try await Self.write("b", in: cache) }
        #expect(error?.writeFailure?.contains("deleted, moved or replaced") == true)
        try cache.store.close()
        let next = try TestCache(in: cache.folder)
        #expect(try next.record("orders", "a") != nil && next.store.pendingCount().pending == 1)
    }
}
