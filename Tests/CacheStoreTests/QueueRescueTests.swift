import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Rescuing the queue of a damaged database")
struct QueueRescueTests {
    @Test("a zeroed header loses nothing of the queue, and the damaged file is kept unchanged")
    func zeroedHeader() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        try scene.overwrite(at: 0, with: Array(repeating: 0, count: 100))
        let damaged = try Data(contentsOf: URL(filePath: scene.path))
        let (cache, report) = try await scene.rescued()
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(try RescueScene.queue(cache.store).map(\.id) == before.map(\.id))
        #expect(try !RescueScene.queue(cache.store).map(\.tried).contains(true))
        #expect(report.rescued == 3 && report.uncertain == 0 && report.lost.isEmpty)
        #expect(try Data(contentsOf: cache.folder.appending(path: report.setAside)) == damaged)
        #expect(try cache.store.rescueNote() == report)
    }

    @Test("records with queued changes are available at once, others are pulled again, and children wait for parents")
    func records() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        try scene.overwrite(at: 0, with: Array(repeating: 0, count: 100))
        let (cache, _) = try await scene.rescued()
        #expect(try cache.record("orders", "a")?["total"]?.text == "1")
        #expect(try cache.record("orders", "a")?["status"]?.string == "ready")
        #expect(try cache.record("orders", "b") == nil)
        #expect(try cache.store.cursor(of: "orders").lastFullAt == nil)
        #expect(try cache.store.readyChanges(limit: 9, at: RescueScene.now).map(\.entity) == ["orders", "orders"])
    }

    @Test("a file without its first page is read with that of the newest backup")
    func zeroedFirstPage() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        try await scene.cache.store.update("orders", key: "b", body: .object(["notes": "late"]), at: RescueScene.now)
        let before = try scene.queue()
        try scene.cache.store.close()
        try scene.overwrite(at: 0, with: Array(repeating: 0, count: 4096))
        let (cache, report) = try await scene.rescued(from: [backup])
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test("rows on a torn page of the queue are read from the page itself")
    func tornQueue() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        // The page type and its number of rows.
        try scene.overwrite(at: scene.page(of: "sync_outbox"), with: [0xFF, 0, 0, 0xFF, 0xFF])
        let (cache, report) = try await scene.rescued()
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test("the bare pages alone give the whole queue")
    func barePages() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        let reading = try #require(QueueSnapshot(scanning: scene.path, withLog: true))
        #expect(reading.changes.map(\.idempotencyKey) == before.map(\.key))
    }

    @Test("stored text that is no longer JSON is damage, for readers and writers")
    func brokenText() async throws {
        let scene = try await RescueScene()
        try await scene.cache.store.pool.write { db in
            try db.execute(sql: "UPDATE sync_outbox SET body = substr(body, 2)")
        }
        #expect {
            try scene.cache.store.readyChanges(limit: 1, at: RescueScene.now)
        } throws: { error in
            guard case CacheError.damaged? = error as? CacheError else { return false }
            return true
        }
    }

    @Test("a truncated file gives what is left of its queue")
    func truncated() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        let file = try #require(FileHandle(forUpdatingAtPath: scene.path))
        try file.truncate(atOffset: UInt64(try scene.page(of: "sync_outbox") + 20 * 4096))
        try file.close()
        let (cache, _) = try await scene.rescuedUnseen()
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
    }

    @Test("a log of another database is neither used nor written back into the file")
    func foreignLog() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        let other = try await RescueScene()
        try Data(contentsOf: URL(filePath: other.path + "-wal")).write(to: URL(filePath: scene.path + "-wal"))
        let file = try Data(contentsOf: URL(filePath: scene.path))
        let (cache, report) = try await scene.rescued()
        #expect(try Data(contentsOf: cache.folder.appending(path: report.setAside)) == file)
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        try other.cache.store.close()
    }

    @Test("a change in a backup that the damaged file has as acknowledged is not queued again")
    func acknowledged() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        try await scene.sendFirst()
        let before = try scene.queue()
        try scene.cache.store.close()
        try scene.overwrite(at: scene.page(of: "sync_outbox"), with: [0xFF, 0, 0, 0xFF, 0xFF])
        let (cache, _) = try await scene.rescued(from: [backup])
        #expect(before.count == 2)
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
    }

    @Test("if only a backup is left, its changes are queued as possibly sent, under their keys")
    func onlyBackup() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        let backup = try scene.backUp()
        try scene.cache.store.close()
        let size = try Data(contentsOf: URL(filePath: scene.path)).count
        try scene.overwrite(at: 0, with: Array(repeating: 0x5A, count: size))
        let (cache, report) = try await scene.rescued(from: [backup])
        let queue = try RescueScene.queue(cache.store)
        #expect(queue.map(\.key) == before.map(\.key))
        #expect(report.uncertain == 3 && report.mayMissMore)
        #expect(!queue.map(\.tried).contains(false))
        #expect(try cache.store.setting("account") == nil)
    }

    @Test("a change that cannot be read is listed as lost")
    func lost() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        let page = try scene.page(of: "sync_outbox")
        try scene.overwrite(at: page, with: Array(repeating: 0, count: 4096))
        let (cache, report) = try await scene.rescued()
        #expect(report.lost == [1, 2, 3])
        #expect(!report.mayMissMore)
        // Their ids are not used again.
        _ = try await cache.store.create("orders", body: .object(["notes": "x"]), at: RescueScene.later)
        #expect(try RescueScene.queue(cache.store).map(\.id) == [4])
    }

    @Test("damage found by a read is reported to the waiting caller")
    func readError() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        try scene.overwrite(at: scene.page(of: "orders_by_status"), with: Array(repeating: 0xFF, count: 8))
        let cache = try TestCache(in: scene.cache.folder)
        let open = ListQuery.Filter(field: "status", comparison: .equal, values: ["open"])
        #expect(throws: CacheError.self) { try cache.keys(ListQuery(entity: "orders", filters: [open])) }
        await #expect(throws: CacheError.self) { try await cache.store.waitForDamage() }
        cache.store.abandon()
        let (rescued, _) = try await scene.rescuedUnseen()
        #expect(try RescueScene.queue(rescued.store).count == 3)
    }

    @Test("the daily check finds damage that no read has met")
    func check() async throws {
        let scene = try await RescueScene()
        try await scene.cache.store.check()
        try scene.cache.store.close()
        try scene.overwrite(at: scene.page(of: "sync_drift"), with: Array(repeating: 0xFF, count: 8))
        let cache = try TestCache(in: scene.cache.folder)
        await #expect(throws: CacheError.self) { try await cache.store.check() }
        await #expect(throws: CacheError.self) { try await cache.store.waitForDamage() }
        cache.store.abandon()
    }

    @Test("a replacement interrupted between two renames is completed by the next start")
    func cutOff() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        let stamp = DatabaseFile.stamp(RescueScene.later)
        let fresh = scene.path + ".next.damaged-\(stamp)"
        try FileManager.default.copyItem(atPath: scene.path, toPath: fresh)
        try FileManager.default.moveItem(atPath: scene.path, toPath: scene.path + ".damaged-\(stamp)")
        try DatabaseFile(scene.path).finishReplacing()
        let cache = try TestCache(in: scene.cache.folder)
        #expect(try RescueScene.queue(cache.store).count == 3)
        #expect(DatabaseFile(scene.path).lastDamage == RescueScene.later)
    }
}
