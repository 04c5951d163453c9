import Foundation
import GRDB
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

/// A sort holds all records of a page at once.
@Suite("Sorts of large records", .serialized)
struct LargeSortTests {
    private static let sql = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
        SELECT i, zeroblob(1000000) FROM n ORDER BY -i LIMIT 8
        """

    /// Whether this process has a temporary file of SQLite's open, in this folder or in any.
    private static func hasTemporaryFile(in place: String = "") -> Bool {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.contains("\(place)/etilqs") ?? false
        }
    }

    @Test func `a list is sorted in a file if its records take much memory`() throws {
        let cache = try TestCache()
        let isInFile = try cache.store.readers.read { connection in
            var found = false
            try connection.query(Self.sql, []) { _ in
                found = Self.hasTemporaryFile()
                return false
            }
            return found
        }
        #expect(isInFile)
    }

    @Test func `the file is in the folder that the daemon chose`() throws {
        let cache = try TestCache()
        SQLiteLibrary.keepTemporaryFiles(in: cache.folder.path)
        let isThere = try cache.store.readers.read { connection in
            var found = false
            try connection.query(Self.sql, []) { _ in
                found = Self.hasTemporaryFile(in: cache.folder.path)
                return false
            }
            return found
        }
        #expect(isThere)
    }

    private static let counting = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT count(*) FROM n
        """

    /// Reads that may take long on a disk with as much free space as `free` says, each time that it is asked.
    private static func count(_ cache: TestCache, free: [Int]) async throws {
        let asked = Mutex(free)
        let reads = LongReads(path: cache.store.pool.path, damage: DamageWatch()) {
            asked.withLock { free in
                DiskSpace(free: free.count > 1 ? free.removeFirst() : free[0], total: 1 << 40)
            }
        }
        try await reads.read(for: .daemon) { try $0.query(counting, []) { _ in true } }
    }

    @Test func `a sort ends when it takes what writes need of the disk`() async throws {
        let cache = try TestCache()
        let error = await #expect(throws: CacheError.self) {
            try await Self.count(cache, free: [1 << 30, 1 << 29, 1 << 20])
        }
        #expect(error?.writeFailure != nil)
    }

    @Test func `a list that takes nothing of a disk that is nearly full is read`() async throws {
        let cache = try TestCache()
        try await Self.count(cache, free: [1 << 20])
    }

    @Test func `the queue is sorted in a file if its changes take much memory`() throws {
        let cache = try TestCache()
        let isInFile = try cache.store.snapshot { db in
            let rows = try Row.fetchCursor(db, sql: Self.sql)
            return try rows.next().map { _ in Self.hasTemporaryFile() }
        }
        #expect(isInFile == true)
    }
}
