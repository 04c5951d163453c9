import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import Secrets
import TestSupport
import Testing

@testable import CacheStore

/// A cache with unsent changes, ways to damage its file, and its rescue.
struct RescueFixture {
    let cache: TestCache
    static let now = TestCache.now
    static let later = TestCache.now + .seconds(60)

    /// Two pulled orders, one of them edited, a new order and a message about it: three changes.
    init() async throws {
        cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open","total":1},{"id":"b","status":"open"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["status": "ready"]), at: Self.now)
        let order = try await cache.store.create("orders", body: .object(["notes": "new"]), at: Self.now)
        let message = JSONText.object(["order_id": .string(order), "text": "hello"])
        _ = try await cache.store.create("messages", body: message, at: Self.now)
    }

    var path: String { cache.path }

    /// The queued changes, oldest first: id, idempotency key, and whether it may have been sent.
    static func queue(_ store: CacheStore) throws -> [(id: Int64, key: String, tried: Bool)] {
        try store.snapshot(QueueSnapshot.init).changes.map { ($0.id, $0.idempotencyKey, $0.tried > 0) }
    }

    func queue() throws -> [(id: Int64, key: String, tried: Bool)] { try Self.queue(cache.store) }

    /// Sends the oldest change and acknowledges it.
    func sendFirst() async throws {
        try await cache.send(answer: nil)
    }

    func backUp() throws -> String {
        let backup = cache.folder.path("backup-\(UUID().uuidString).db")
        try DatabaseCopy.make(of: path, at: backup)
        return backup
    }

    // MARK: Damage

    /// Overwrites bytes of the closed file.
    func overwrite(at offset: Int, with bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// Runs SQL on the closed file, which may change the schema itself.
    func change(_ sql: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(sql: sql)
        }
        try database.close()
    }

    /// The offset of a table's first page.
    func page(of table: String) throws -> Int {
        let number = try DatabaseQueue(path: path).read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table])
        }
        return (try #require(number) - 1) * 4096
    }

    // MARK: Rescue

    static func sealer() throws -> SecretSealer {
        try SecretSealer.sample()
    }

    static func schema() throws -> EntitySchema { try EntitySchema(yaml: TestCache.shop, file: "shop.yaml") }

    /// Expects opening the file to fail with damage, rescues it, and opens the replacement.
    func rescued(from backups: [String] = []) async throws -> (cache: TestCache, report: QueueRescue.Report) {
        let error = #expect(throws: CacheError.self) { try TestCache(in: cache.folder) }
        #expect(error?.damage != nil)
        return try await rescuedUnseen(from: backups)
    }

    /// The same for damage that opening does not find.
    func rescuedUnseen(from backups: [String] = []) async throws -> (cache: TestCache, report: QueueRescue.Report) {
        let report = try await QueueRescue(
            path: path, schema: Self.schema(), sealer: Self.sealer(), backups: backups, makeID: { UUID().uuidString }
        ).run(reason: "test", at: Self.later)
        return (try TestCache(in: cache.folder), report)
    }
}
