import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("Reading connections")
struct ReaderPoolTests {
    private static func numbers(_ readers: ReaderPool, _ sql: NumberedSQL) throws -> [Int64] {
        try readers.read { connection in
            var found: [Int64] = []
            try connection.query(sql) { row in
                if let number = BoundStatement(row).integer(0) { found.append(number) }
                return true
            }
            return found
        }
    }

    private static func make(_ path: String) throws {
        try DatabaseQueue(path: path).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE a (n); INSERT INTO a VALUES (1), (2)")
        }
    }

    @Test("a connection is opened when it is first needed")
    func lazy() throws {
        let folder = try TemporaryFolder()
        var numbers = StatementNumbers()
        let sql = numbers.next("SELECT n FROM a ORDER BY n")
        let readers = ReaderPool(path: folder.path("a.db"), damage: DamageWatch(), count: 2, first: nil)
        #expect(throws: CacheError.self) { try Self.numbers(readers, sql) }
        try Self.make(folder.path("a.db"))
        #expect(try Self.numbers(readers, sql) == [1, 2])
    }

    @Test("a fixed statement sees a changed schema")
    func schemaChange() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        try Self.make(path)
        var numbers = StatementNumbers()
        _ = numbers.next("SELECT 0")
        let sql = numbers.next("SELECT * FROM a ORDER BY n")
        let readers = ReaderPool(path: path, damage: DamageWatch(), count: 1, first: try ReadConnection(path: path))
        #expect(try Self.numbers(readers, sql) == [1, 2])
        try DatabaseQueue(path: path).write {
            try $0.execute(sql: "ALTER TABLE a ADD COLUMN m; DELETE FROM a WHERE n = 1")
        }
        readers.endCommit()
        #expect(try Self.numbers(readers, sql) == [2])
    }

    /// One connection to a database with two numbers, and another that writes.
    private struct Pair {
        let folder: TemporaryFolder
        let writer: DatabaseQueue
        let readers: ReaderPool
        let sql: NumberedSQL

        init() throws {
            folder = try TemporaryFolder()
            let path = folder.path("a.db")
            try ReaderPoolTests.make(path)
            writer = try DatabaseQueue(path: path)
            var numbers = StatementNumbers()
            sql = numbers.next("SELECT n FROM a ORDER BY n")
            readers = ReaderPool(path: path, damage: DamageWatch(), count: 1, first: nil)
        }

        func insert(_ number: Int) throws {
            try writer.write { try $0.execute(sql: "INSERT INTO a VALUES (\(number))") }
        }

        func read() throws -> [Int64] { try ReaderPoolTests.numbers(readers, sql) }
    }

    @Test("an answer is kept until the next commit, and not while one is under way")
    func kept() throws {
        let pair = try Pair()
        let (readers, sql, reads) = (pair.readers, pair.sql, Counter())
        let answer = { try readers.read { connection in connection.kept(sql) { reads.next() } } }
        #expect(try [answer(), answer()] == [1, 1])
        readers.beginCommit()
        #expect(try [answer(), answer()] == [2, 3])
        readers.endCommit()
        #expect(try [answer(), answer()] == [4, 4])
    }

    @Test("a connection holds its snapshot until a commit has ended, and then lets go of it")
    func held() throws {
        let pair = try Pair()
        #expect(try pair.read() == [1, 2])
        try pair.insert(3)
        #expect(try pair.read() == [1, 2])
        pair.readers.endCommit()
        #expect(try pair.read() == [1, 2, 3])
    }

    @Test("each read that begins during a commit is of its own, so none is older than another")
    func duringCommit() throws {
        let pair = try Pair()
        #expect(try pair.read() == [1, 2])
        pair.readers.beginCommit()
        #expect(try pair.read() == [1, 2])
        try pair.insert(3)
        #expect(try pair.read() == [1, 2, 3])
        try pair.insert(4)
        #expect(try pair.read() == [1, 2, 3, 4])
    }

    @Test("a read that a commit overtakes holds no snapshot afterwards")
    func overtaken() throws {
        let pair = try Pair()
        let found = try pair.readers.read { connection in
            var found: [Int64] = []
            try connection.query(pair.sql) { row in
                if found.isEmpty { pair.readers.endCommit() }
                if let number = BoundStatement(row).integer(0) { found.append(number) }
                return true
            }
            return found
        }
        #expect(found == [1, 2])
        try pair.insert(3)
        // A snapshot that is held would keep the log from being emptied.
        let isBusy = try pair.writer.writeWithoutTransaction { db in
            try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        #expect(isBusy == 0)
    }

    @Test("nothing is read after closing, opened or not")
    func closed() throws {
        let folder = try TemporaryFolder()
        try Self.make(folder.path("a.db"))
        var numbers = StatementNumbers()
        let sql = numbers.next("SELECT n FROM a")
        let readers = ReaderPool(path: folder.path("a.db"), damage: DamageWatch(), count: 2, first: nil)
        readers.close()
        #expect(throws: CacheError.self) { try Self.numbers(readers, sql) }
    }
}
