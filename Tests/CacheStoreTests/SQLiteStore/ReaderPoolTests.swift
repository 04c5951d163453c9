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
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE a (n); INSERT INTO a VALUES (1), (2)") }
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
        #expect(try Self.numbers(readers, sql) == [2])
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
