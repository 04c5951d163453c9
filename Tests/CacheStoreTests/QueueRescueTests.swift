import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Rescuing the queue of a damaged database")
struct QueueRescueTests {
    @Test("a zeroed header costs nothing of the queue, and the damaged file is kept as it was")
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
        #expect(try Data(contentsOf: cache.folder.url.appending(path: report.setAside)) == damaged)
        #expect(try cache.store.rescueNote() == report)
    }

    @Test("records with queued changes are there at once, the others are pulled anew, and children wait for parents")
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

    @Test("with its first page gone the file is read by that of the newest backup")
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

    @Test("rows of a queue whose page is torn are read from the page itself")
    func tornQueue() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        // The kind of the page, and how many rows it has.
        try scene.overwrite(at: scene.page(of: "sync_outbox"), with: [0xFF, 0, 0, 0xFF, 0xFF])
        let (cache, report) = try await scene.rescued()
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test("the bare pages alone tell the whole queue")
    func barePages() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        let reading = try #require(QueueSnapshot(scanning: scene.path, withLog: true))
        #expect(reading.changes.map(\.idempotencyKey) == before.map(\.key))
    }

    @Test("text that is no JSON any more is damage, whoever meets it")
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

    @Test("a file that was cut short gives what is left of its queue")
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

    @Test("a log of another database is not taken for the file's own, and not written back into it")
    func foreignLog() async throws {
        let scene = try await RescueScene()
        let before = try scene.queue()
        try scene.cache.store.close()
        let other = try await RescueScene()
        try Data(contentsOf: URL(filePath: other.path + "-wal")).write(to: URL(filePath: scene.path + "-wal"))
        let file = try Data(contentsOf: URL(filePath: scene.path))
        let (cache, report) = try await scene.rescued()
        #expect(try Data(contentsOf: cache.folder.url.appending(path: report.setAside)) == file)
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        try other.cache.store.close()
    }

    @Test("what a backup has and the damaged file knows to be acknowledged is not queued again")
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

    @Test("where nothing is left but a backup its changes are queued as ones that may have arrived, under their keys")
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

    @Test("a change that cannot be read any more is named")
    func lost() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        let page = try scene.page(of: "sync_outbox")
        try scene.overwrite(at: page, with: Array(repeating: 0, count: 4096))
        let (cache, report) = try await scene.rescued()
        #expect(report.lost == [1, 2, 3])
        #expect(!report.mayMissMore)
        // Their numbers are not given again.
        _ = try await cache.store.create("orders", body: .object(["notes": "x"]), at: RescueScene.later)
        #expect(try RescueScene.queue(cache.store).map(\.id) == [4])
    }

    @Test("damage that a read meets is told to who waits for it")
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

    @Test("the daily check finds what nobody has read")
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

    @Test("what a crash cut off between two names is ended by the next start")
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
