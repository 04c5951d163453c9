import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@testable import CacheStore

/// Another program can make a file of holes as long as a disk, which takes no room, and would take hours to read.
@Suite("Rescuing from a file of holes")
struct HollowFileTests {
    @Test("the holes of a file are passed over, but for pages that the log has of them")
    func holes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE own (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
                    INSERT INTO own VALUES (7, 'x', 'y');
                    PRAGMA journal_mode = WAL;
                    INSERT INTO own VALUES (8, 'x', 'y')
                    """)
        }
        for length: off_t in [4096, 1 << 40] {
            try #require(truncate(path, length) == 0)
            let scan = try #require(PageScan(path: path, withLog: true))
            var ids: [Int64] = []
            scan.forEachRow(columns: 3...3) { ids.append($0.id) }
            #expect(ids == [7, 8], "\(length)")
        }
        try queue.close()
    }

    @Test("a log of holes with a salt of 0 ends at the first of them")
    func holesInLog() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        try folder.write("", to: "a.db")
        try folder.write("", to: "a.db-wal")
        try #require(truncate(path + "-wal", 1 << 40) == 0)
        let scan = try #require(PageScan(path: path, withLog: true))
        #expect(scan.markOfLog == nil)
    }

    @Test("a damaged file of holes is read to the end, and not copied")
    func damagedHoles() async throws {
        let fixture = try await RescueFixture()
        try fixture.cache.store.close()
        try fixture.overwrite(at: 0, with: Array(repeating: 0x55, count: 100))
        try #require(truncate(fixture.path, 1 << 40) == 0)
        var sizes: [Int] = []
        DamagedFile(path: fixture.path, backups: []).forEachReading { sizes.append($0.changes.count) }
        #expect(sizes.max() == 3)
        #expect(!FileManager.default.fileExists(atPath: fixture.path + ".repaired"))
    }
}
