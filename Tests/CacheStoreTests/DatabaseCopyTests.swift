import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Copying and restoring databases")
struct DatabaseCopyTests {
    private func restore(_ backup: String, to path: String) async throws -> DatabaseRestore.Report {
        try await DatabaseRestore(
            path: path, schema: RescueScene.schema(), sealer: RescueScene.sealer(), makeID: { UUID().uuidString }
        ).run(from: backup, at: RescueScene.later)
    }

    @Test("a copy made while others write is of one moment, for its owner alone, and one file")
    func underLoad() async throws {
        let scene = try await RescueScene()
        let store = scene.cache.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.create(
                            "orders", body: .object(["notes": .string("\(writer) \(number)")]), at: RescueScene.now)
                    }
                }
            }
            for number in 0..<5 { try await store.backUp(to: scene.path + ".copy\(number)") }
            try await group.waitForAll()
        }
        for number in 0..<5 {
            let copy = scene.path + ".copy\(number)"
            #expect(try DatabaseCopy.problems(of: copy).isEmpty)
            let (rows, changes) = try newOrders(in: copy)
            #expect(rows == changes)
            let attributes = try FileManager.default.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
        }
    }

    @Test("between the steps of a copy others write and the log is written back, and the copy has what they wrote")
    func steps() async throws {
        let scene = try await RescueScene()
        let pool = scene.cache.store.pool
        try await pool.write { db in try db.execute(sql: "CREATE TABLE written (number INTEGER, ballast)") }
        var copying = CopyInSteps(writer: pool, pagesPerStep: 1)
        var steps = 0
        copying.afterStep = {
            steps += 1
            guard steps <= 20 else { return }
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO written VALUES (?, randomblob(10000))", arguments: [steps])
                // Throws while anybody reads from the log.
                _ = try db.checkpoint(.truncate)
            }
        }
        let target = scene.path + ".copy"
        try DatabaseCopy.make(of: scene.path, at: target, copyPages: copying.copy)
        #expect(steps > 20)
        #expect(try DatabaseCopy.problems(of: target).isEmpty)
        let copied = try await DatabaseQueue(path: target).read { db in
            try Int.fetchAll(db, sql: "SELECT number FROM written ORDER BY number")
        }
        #expect(copied == Array(1...20))
    }

    @Test("a copy whose target cannot be written ends, and the database is written to as before")
    func unwritableStep() async throws {
        let scene = try await RescueScene()
        let pool = scene.cache.store.pool
        let full = try DatabaseQueue(path: scene.path + ".copy")
        try await full.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA max_page_count = 3") }
        #expect(throws: DatabaseError.self) { try CopyInSteps(writer: pool, pagesPerStep: 1).copy(to: full) }
        _ = try await scene.cache.pull("orders", #"[{"id":"c"}]"#)
        #expect(try scene.cache.record("orders", "c") != nil)
    }

    /// Records that only the queue has, and changes that make some.
    private func newOrders(in path: String) throws -> (rows: Int?, changes: Int?) {
        try DatabaseQueue(path: path).read { db in
            let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM records_orders WHERE _remote IS NULL")
            let changes = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM sync_outbox WHERE entity = 'orders' AND operation = 'create'")
            return (rows, changes)
        }
    }

    @Test("no file is ever overwritten")
    func existing() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        #expect(throws: CacheError.self) { try DatabaseCopy.make(of: scene.path, at: backup) }
    }

    @Test("a damaged database gives no copy")
    func damaged() async throws {
        let scene = try await RescueScene()
        try scene.cache.store.close()
        try scene.overwrite(at: scene.page(of: "sync_drift"), with: Array(repeating: 0xFF, count: 8))
        let copy = scene.path + ".copy"
        #expect(throws: CacheError.self) { try DatabaseCopy.make(of: scene.path, at: copy) }
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test("a restore begins another epoch, keeps what it replaces, and has the backup's records")
    func epoch() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        let before = scene.cache.store.epoch
        _ = try await scene.cache.pull("orders", #"[{"id":"c"}]"#)
        try scene.cache.store.close()
        let report = try await restore(backup, to: scene.path)
        let cache = try TestCache(in: scene.cache.folder)
        #expect(cache.store.epoch != before)
        #expect(try cache.record("orders", "c") == nil)
        #expect(try cache.record("orders", "b") != nil)
        let replaced = try #require(report.replaced)
        #expect(try DatabaseCopy.problems(of: replaced).isEmpty)
    }

    @Test("a restore neither sends again what was acknowledged since nor drops what was written since")
    func queue() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        try await scene.sendFirst()
        try await scene.cache.store.update("orders", key: "b", body: .object(["notes": "late"]), at: RescueScene.now)
        let before = try scene.queue()
        try scene.cache.store.close()
        let report = try await restore(backup, to: scene.path)
        let cache = try TestCache(in: scene.cache.folder)
        #expect(try RescueScene.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.queued == 3 && report.uncertain == 0)
        #expect(try cache.record("orders", "a")?["status"]?.string == "open")
        #expect(try cache.record("orders", "b")?["notes"]?.string == "late")
    }

    @Test("on another machine the changes of a backup may have arrived")
    func elsewhere() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        let folder = try TemporaryFolder()
        let report = try await restore(backup, to: folder.path("cache.db"))
        #expect(report.replaced == nil && report.uncertain == 3)
        let cache = try TestCache(in: folder)
        #expect(try RescueScene.queue(cache.store).map(\.key) == scene.queue().map(\.key))
        #expect(try !RescueScene.queue(cache.store).map(\.tried).contains(false))
        #expect(try cache.store.pendingCount().pending == 3)
    }

    @Test("a backup of a newer version is refused, the database unchanged")
    func newer() async throws {
        let scene = try await RescueScene()
        let backup = try scene.backUp()
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')")
        }
        try scene.cache.store.close()
        let before = try Data(contentsOf: URL(filePath: scene.path))
        await #expect(throws: CacheError.self) { try await restore(backup, to: scene.path) }
        #expect(try Data(contentsOf: URL(filePath: scene.path)) == before)
    }
}
