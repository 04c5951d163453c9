import EntitySchema
import Foundation
import GRDB
import Glibc
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Rescuing the queue of a damaged database")
struct QueueRescueTests {
    @Test("a zeroed header loses nothing of the queue, and the damaged file is kept unchanged")
    func zeroedHeader() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        try fixture.overwrite(at: 0, with: Array(repeating: 0, count: 100))
        let damaged = try Data(contentsOf: URL(filePath: fixture.path))
        let (cache, report) = try await fixture.rescued()
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(try RescueFixture.queue(cache.store).map(\.id) == before.map(\.id))
        #expect(try !RescueFixture.queue(cache.store).map(\.tried).contains(true))
        #expect(report.rescued == 3 && report.uncertain == 0 && report.lost.isEmpty)
        #expect(try Data(contentsOf: cache.folder.url.appending(path: report.setAside)) == damaged)
        #expect(try cache.store.rescueNote() == report)
    }

    @Test("a setting that is no text ends neither the rescue nor the summary of the file")
    func oddSetting() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        // As a damaged page can have it: the table itself takes no such value.
        for sql in [
            "UPDATE sqlite_master SET sql = replace(sql, 'STRICT, ', '') WHERE name = 'sync_setting'",
            "INSERT INTO sync_setting (name, value) VALUES ('odd', x'fe')",
            "UPDATE sqlite_master SET sql = replace(sql, 'WITHOUT', 'STRICT, WITHOUT') WHERE name = 'sync_setting'",
        ] { try fixture.change(sql) }
        #expect(try DatabaseSummary(ofDatabaseAt: fixture.path).queue.values.reduce(0, +) == 3)
        let (cache, report) = try await fixture.rescued()
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.rescued == 3)
    }

    @Test("records with queued changes are available at once, others are pulled again, and children wait for parents")
    func records() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        try fixture.overwrite(at: 0, with: Array(repeating: 0, count: 100))
        let (cache, _) = try await fixture.rescued()
        #expect(try cache.record("orders", "a")?["total"]?.text == "1")
        #expect(try cache.record("orders", "a")?["status"]?.string == "ready")
        #expect(try cache.record("orders", "b") == nil)
        #expect(try cache.store.cursor(of: "orders").lastFullAt == nil)
        #expect(try cache.store.readyChanges(limit: 9, at: RescueFixture.now).map(\.entity) == ["orders", "orders"])
    }

    @Test("a file without its first page is read with that of the newest backup")
    func zeroedFirstPage() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await fixture.cache.store.update(
            "orders", key: "b", body: .object(["notes": "late"]), at: RescueFixture.now)
        let before = try fixture.queue()
        try fixture.cache.store.close()
        try fixture.overwrite(at: 0, with: Array(repeating: 0, count: 4096))
        let (cache, report) = try await fixture.rescued(from: [backup])
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test("rows on a torn page of the queue are read from the page itself")
    func tornQueue() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        // The page type and its number of rows.
        try fixture.overwrite(at: fixture.page(of: "sync_outbox"), with: [0xFF, 0, 0, 0xFF, 0xFF])
        let (cache, report) = try await fixture.rescued()
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test("the bare pages alone give the whole queue")
    func barePages() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        let reading = try #require(QueueSnapshot(scanning: fixture.path, withLog: true))
        #expect(reading.changes.map(\.idempotencyKey) == before.map(\.key))
    }

    @Test("a file larger than the memory is read page by page")
    func largerFile() async throws {
        let fixture = try await RescueFixture()
        let copy = fixture.cache.folder.path("large.db")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
        try FileManager.default.copyItem(atPath: fixture.path + "-wal", toPath: copy + "-wal")
        let file = try #require(FileHandle(forUpdatingAtPath: copy))
        // A hole, which takes no space.
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        let scan = try #require(PageScan(path: copy, withLog: true))
        #expect(scan.markOfLog != nil)
    }

    @Test("frames of the log after one that the disk cannot read still count")
    func unreadableFrame() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    CREATE TABLE own (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
                    INSERT INTO own VALUES (7, 'x', 'y');
                    INSERT INTO own VALUES (8, 'x', 'y')
                    """)
        }
        // The third: the first two have the new table.
        let frame = off_t(32 + 2 * (24 + 4096))
        let scan = try #require(
            PageScan(path: path, withLog: true) { file, bytes, count, offset in
                offset == frame ? -1 : pread(file, bytes, count, offset)
            })
        var ids: [Int64] = []
        scan.forEachRow(columns: 3...3) { ids.append($0.id) }
        #expect(ids == [7, 8])
        try queue.close()
    }

    @Test("a row of the bare pages whose first column is not its id belongs to another table")
    func otherTable() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        try await DatabaseQueue(path: path).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE own (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
                    CREATE TABLE other (name TEXT, a TEXT, b TEXT);
                    INSERT INTO own VALUES (7, 'x', 'y');
                    INSERT INTO other VALUES ('n', 'x', 'y')
                    """)
        }
        let scan = try #require(PageScan(path: path, withLog: false))
        var ids: [Int64] = []
        scan.forEachRow(columns: 3...3) { ids.append($0.id) }
        #expect(ids == [7])
    }

    @Test("a queue that can be read completely is read once, a damaged one in every possible way")
    func readings() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try fixture.cache.store.close()
        func sizes() -> [Int] {
            var sizes: [Int] = []
            DamagedFile(path: fixture.path, backups: [backup]).forEachReading { sizes.append($0.changes.count) }
            return sizes
        }
        #expect(sizes() == [3])
        try fixture.overwrite(at: fixture.page(of: "sync_outbox"), with: Array(repeating: 0, count: 4096))
        // The file and its log, the bare pages, the file alone, the backup.
        #expect(sizes() == [0, 0, 0, 3])
    }

    @Test("stored text that is no longer JSON is damage, once the file was checked")
    func brokenText() async throws {
        let fixture = try await RescueFixture()
        fixture.cache.isDamaged = true
        try await fixture.cache.store.pool.write { db in
            try db.execute(sql: "UPDATE sync_outbox SET body = substr(body, 2)")
        }
        #expect(throws: CacheError.self) { try fixture.cache.store.readyChanges(limit: 1, at: RescueFixture.now) }
        let store = fixture.cache.store
        let error = await #expect(throws: CacheError.self) { try await store.waitForDamage() }
        #expect(error?.damage != nil)
    }

    @Test("conflicts with a value that is no longer JSON are left out, so that the others can be listed")
    func brokenConflict() async throws {
        let fixture = try await RescueFixture()
        fixture.cache.isDamaged = true
        try await fixture.cache.store.pool.write { db in
            try db.execute(
                sql: """
                    INSERT INTO sync_conflict (at, change_id, entity, record_key, operation, field, base, rule, winner)
                    VALUES (0, 1, 'orders', 'a', 'update', 'status', '"open"', 'manual', 'local'),
                      (0, 1, 'orders', 'a', 'update', 'total', '{', 'manual', 'local'),
                      (0, 1, 'orders', 'a', 'update', 'notes', '{', 'manual', NULL)
                    """)
        }
        try fixture.cache.store.close()
        let (cache, report) = try await fixture.rescuedUnseen()
        #expect(report.rescued == 3)
        let conflicts = try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts
        #expect(conflicts.map { $0["field"] } == ["status"])
    }

    @Test("a list of sealed fields that cannot be read does not stop a rescue")
    func brokenSettings() async throws {
        let fixture = try await RescueFixture()
        fixture.cache.isDamaged = true
        try await fixture.cache.store.pool.write { db in
            try db.execute(sql: "INSERT OR REPLACE INTO sync_setting VALUES ('secrets:orders', '[')")
        }
        try fixture.cache.store.close()
        let (cache, report) = try await fixture.rescuedUnseen()
        #expect(report.rescued == 3)
        #expect(try cache.record("orders", "a")?["status"] == "ready")
    }

    @Test("a definition of a table with an invalid path into JSON is damage")
    func brokenPath() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("a.db"))
        #expect {
            try queue.read { db in _ = try Row.fetchOne(db, sql: "SELECT json_extract('{}', '$.\"two')") }
        } throws: { error in
            guard case CacheError.damaged? = CacheError.classified(error) as? CacheError else { return false }
            return true
        }
    }

    @Test("a truncated file gives what is left of its queue")
    func truncated() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        let file = try #require(FileHandle(forUpdatingAtPath: fixture.path))
        try file.truncate(atOffset: UInt64(try fixture.page(of: "sync_outbox") + 20 * 4096))
        try file.close()
        let (cache, _) = try await fixture.rescuedUnseen()
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
    }

    @Test("a log of another database is neither used nor written back into the file")
    func foreignLog() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        let other = try await RescueFixture()
        try Data(contentsOf: URL(filePath: other.path + "-wal")).write(to: URL(filePath: fixture.path + "-wal"))
        let file = try Data(contentsOf: URL(filePath: fixture.path))
        let (cache, report) = try await fixture.rescued()
        #expect(try Data(contentsOf: cache.folder.url.appending(path: report.setAside)) == file)
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        try other.cache.store.close()
    }

    @Test("a change in a backup that the damaged file has as acknowledged is not queued again")
    func acknowledged() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await fixture.sendFirst()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        try fixture.overwrite(at: fixture.page(of: "sync_outbox"), with: [0xFF, 0, 0, 0xFF, 0xFF])
        let (cache, _) = try await fixture.rescued(from: [backup])
        #expect(before.count == 2)
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
    }

    @Test("if only a backup is left, its changes are queued as possibly sent, under their keys")
    func onlyBackup() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        let backup = try fixture.backUp()
        try fixture.cache.store.close()
        let size = try Data(contentsOf: URL(filePath: fixture.path)).count
        try fixture.overwrite(at: 0, with: Array(repeating: 0x5A, count: size))
        let (cache, report) = try await fixture.rescued(from: [backup])
        let queue = try RescueFixture.queue(cache.store)
        #expect(queue.map(\.key) == before.map(\.key))
        #expect(report.uncertain == 3 && report.mayMissMore)
        #expect(!queue.map(\.tried).contains(false))
        #expect(try cache.store.setting("account") == nil)
    }

    @Test("a change that cannot be read is listed as lost")
    func lost() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        let page = try fixture.page(of: "sync_outbox")
        try fixture.overwrite(at: page, with: Array(repeating: 0, count: 4096))
        let (cache, report) = try await fixture.rescued()
        #expect(report.lost == [1, 2, 3])
        #expect(!report.mayMissMore)
        // Their ids are not used again.
        _ = try await cache.store.create("orders", body: .object(["notes": "x"]), at: RescueFixture.later)
        #expect(try RescueFixture.queue(cache.store).map(\.id) == [4])
    }

    @Test("damage found by a read is reported to the waiting caller")
    func readError() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        try fixture.overwrite(at: fixture.page(of: "orders_by_status"), with: Array(repeating: 0xFF, count: 8))
        let cache = try TestCache(in: fixture.cache.folder)
        let open = FilterCondition(field: "status", comparison: .equal, values: ["open"])
        #expect(throws: CacheError.self) { try cache.keys(ListQuery(entity: "orders", filters: [open])) }
        await #expect(throws: CacheError.self) { try await cache.store.waitForDamage() }
        cache.store.abandon()
        let (rescued, _) = try await fixture.rescuedUnseen()
        #expect(try RescueFixture.queue(rescued.store).count == 3)
    }

    @Test("the daily check finds damage that no read has met")
    func check() async throws {
        let fixture = try await RescueFixture()
        try await fixture.cache.store.check()
        try fixture.cache.store.close()
        try fixture.overwrite(at: fixture.page(of: "sync_drift"), with: Array(repeating: 0xFF, count: 8))
        let cache = try TestCache(in: fixture.cache.folder)
        await #expect(throws: CacheError.self) { try await cache.store.check() }
        await #expect(throws: CacheError.self) { try await cache.store.waitForDamage() }
        cache.store.abandon()
    }

    @Test("a replacement interrupted between two renames is completed by the next start")
    func cutOff() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        let stamp = DatabaseFile.stamp(RescueFixture.later)
        let fresh = fixture.path + ".next.damaged-\(stamp)"
        try FileManager.default.copyItem(atPath: fixture.path, toPath: fresh)
        try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.path + ".damaged-\(stamp)")
        try DatabaseFile(fixture.path).finishReplacing()
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(try RescueFixture.queue(cache.store).count == 3)
        let file = DatabaseFile(fixture.path)
        #expect(file.lastDamage(until: RescueFixture.later) == RescueFixture.later)
        // Of a clock that was ahead.
        #expect(file.lastDamage(until: RescueFixture.now) == nil)
    }

    @Test("a replacement interrupted after the log was moved is completed, also if the file was read since")
    func cutOffBetweenFileAndLog() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        let old = fixture.path + ".damaged-\(DatabaseFile.stamp(RescueFixture.later))"
        let fresh = fixture.path + ".next.damaged-\(DatabaseFile.stamp(RescueFixture.later))"
        try FileManager.default.copyItem(atPath: fixture.path, toPath: fresh)
        for suffix in ["-wal", "-shm"] { try Data([1]).write(to: URL(filePath: old + suffix)) }
        _ = CacheOrigin(ofDatabaseAt: fixture.path)
        try #require(FileManager.default.fileExists(atPath: fixture.path + "-wal"))
        #expect(try DatabaseFile(fixture.path).finishReplacing() == [old])
        #expect(try Data(contentsOf: URL(filePath: old + "-wal")) == Data([1]))
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(try RescueFixture.queue(cache.store).count == 3)
    }

    @Test(
        "a note that names another file than a rescue sets aside is no note",
        arguments: [".", "cache.db", "./cache.db.damaged-20261121T104200.000Z"])
    func foreignNote(name: String) async throws {
        let fixture = try await RescueFixture()
        let report = QueueRescue.Report(
            at: "", reason: "", setAside: "cache.db.damaged-20261121T104200.000Z", rescued: 0, uncertain: 0, lost: [],
            mayMissMore: false)
        try Data().write(to: URL(filePath: fixture.cache.folder.path(report.setAside)))
        func note(_ report: QueueRescue.Report) throws -> QueueRescue.Report? {
            QueueRescue.note(String(decoding: try JSONEncoder().encode(report), as: UTF8.self), at: fixture.path)
        }
        #expect(try note(report) == report)
        var other = report
        other.setAside = name
        let read = try note(other)
        #expect(read == nil)
    }
}
