import Dispatch
import EntitySchema
import GRDB
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

/// The log is used from its beginning only after a moment in which no read holds a snapshot of it.
@Suite("Gaps between long reads", .timeLimit(.minutes(10)))
struct LogGapTests {
    private let folder: TemporaryFolder
    private let pool: DatabasePool
    private let writer: GroupCommit

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path("a.db")
        pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (n, content); INSERT INTO a (n) VALUES (1)")
        }
        let readers = ReaderPool(path: path, damage: DamageWatch(), count: 1, first: nil)
        writer = GroupCommit(
            writer: pool, readers: readers, damage: DamageWatch(), committed: {}, upkeep: { nil }, longestLog: 9000)
    }

    /// A read that goes on until it is ended.
    private struct Held {
        let hasBegun: AsyncStream<Void>
        let mayEnd = DispatchSemaphore(value: 0)
        let end: Task<Void, any Error>

        init(_ reads: LongReads, note: @escaping @Sendable () -> Void = {}) {
            let (hasBegun, begun) = AsyncStream.makeStream(of: Void.self)
            self.hasBegun = hasBegun
            end = Task { [mayEnd] in
                try await reads.read(for: .daemon) { connection in
                    try connection.query("SELECT n FROM a", []) { _ in
                        note()
                        begun.yield()
                        mayEnd.wait()
                        return false
                    }
                }
            }
        }

        func begins() async { for await _ in hasBegun { return } }
    }

    /// 250 pages and a few, `count` times.
    private func write(_ count: Int) async throws {
        for _ in 0..<count {
            try await writer.write { db in try db.execute(sql: "INSERT INTO a VALUES (1, zeroblob(1024000))") }
        }
        // The log is copied after the answer.
        try await writer.write { _ in }
    }

    @Test func `a read waits for the one under way once the log is too long, so that the log begins again`()
        async throws
    {
        let reads = LongReads(path: pool.path, damage: DamageWatch(), writer: writer)
        let order = Mutex<[String]>([])
        let first = Held(reads)
        await first.begins()
        try await write(40)
        #expect(writer.isLogHeld)
        let second = Held(reads) { order.withLock { $0.append("second begins") } }
        try await write(4)
        order.withLock { $0.append("first ends") }
        first.mayEnd.signal()
        try await first.end.value
        await second.begins()
        #expect(order.withLock(\.self) == ["first ends", "second begins"])
        // The second has a snapshot, and keeps only from being copied what is written from now on.
        try await write(1)
        #expect(!writer.isLogHeld)
        second.mayEnd.signal()
        try await second.end.value
    }

    @Test func `a read that has taken long ends once the log is too long`() async throws {
        let seconds = Counter()
        let reads = LongReads(
            path: pool.path, damage: DamageWatch(), writer: writer, uptime: { .seconds(20) * seconds.next() })
        let (hasBegun, begun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        let read = Task {
            try await reads.read(for: .daemon) { connection in
                let sql = "WITH RECURSIVE n (i) AS (SELECT n FROM a UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
                var isFirst = true
                try connection.query(sql, []) { _ in
                    if isFirst {
                        begun.yield()
                        mayGoOn.wait()
                    }
                    isFirst = false
                    return true
                }
            }
        }
        for await _ in hasBegun { break }
        try await write(40)
        mayGoOn.signal()
        let error = await #expect(throws: CacheError.self) { try await read.value }
        #expect(error?.writeFailure != nil)
    }

    @Test func `the status warns while another program keeps the log from beginning again`() async throws {
        let store = try CacheStore.temporary(EntitySchema(yaml: TestCache.shop, file: "shop.yaml"), in: folder)
        let reader = try DatabasePool(path: folder.path("cache.db"))
        func write(mebibytes: Int) async throws {
            try await store.writer.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS a (content)")
                for _ in 0..<mebibytes { try db.execute(sql: "INSERT INTO a VALUES (zeroblob(1048576))") }
            }
        }
        func openRead() throws -> DatabaseSnapshot {
            let snapshot = try reader.makeSnapshot()
            try snapshot.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
            return snapshot
        }
        let held = try openRead()
        #expect(store.logWarning == nil)
        try await write(mebibytes: 270)
        // The log is copied after the answer.
        try await write(mebibytes: 1)
        #expect(store.logWarning?.contains("end that program") == true)
        try held.close()
        try await write(mebibytes: 1)
        try await write(mebibytes: 1)
        #expect(store.logWarning == nil)
    }
}
