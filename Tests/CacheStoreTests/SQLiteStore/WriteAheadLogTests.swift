import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("The write-ahead log")
struct WriteAheadLogTests {
    @Test("the log is used from its beginning again while a connection reads after each commit")
    func beginsAnew() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (n, content)")
        }
        let readers = ReaderPool(path: path, damage: DamageWatch(), count: 2, first: nil)
        let writer = GroupCommit(
            writer: pool, readers: readers, runtime: GroupCommit.Runtime(schedule: { $0() }), damage: DamageWatch(),
            committed: {}, upkeep: { nil })
        var longest = 0
        for number in 0..<60 {
            // 250 pages and a few.
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO a VALUES (?, zeroblob(1024000))", arguments: [number])
            }
            let count = try readers.read { connection in
                var count: Int64?
                try connection.query("SELECT count(n) FROM a", []) { row in
                    count = BoundStatement(row).integer(0)
                    return true
                }
                return count
            }
            #expect(count == Int64(number + 1))
            longest = max(longest, try Data(contentsOf: URL(filePath: "\(path)-wal"), options: .alwaysMapped).count)
        }
        // All of them together are 61 MB; the log is copied from 8,000 pages on, which are 33 MB.
        #expect((32_000_000..<37_000_000).contains(longest))
    }
}
