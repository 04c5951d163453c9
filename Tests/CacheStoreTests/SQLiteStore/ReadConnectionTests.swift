import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("Queries of one reading connection")
struct ReadConnectionTests {
    private let folder: TemporaryFolder
    private let writer: DatabasePool
    private let connection: ReadConnection

    init() throws {
        folder = try TemporaryFolder()
        writer = try DatabasePool(path: folder.path("a.db"))
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE a (n INTEGER PRIMARY KEY); INSERT INTO a VALUES (1), (2), (3), (4), (5)")
        }
        connection = try ReadConnection(path: folder.path("a.db"))
    }

    private let query: BoundSQL = ("SELECT n FROM a ORDER BY n", [])

    /// What a walk reads in pieces of these sizes.
    private func walk(_ sizes: Int...) throws -> [[Int64]] {
        var pieces: [[Int64]] = []
        try connection.snapshot {
            pieces = try connection.walk(query) { rows in try sizes.map { Array(try rows.next($0)) } }
        }
        return pieces
    }

    @Test("many other queries may run between the rows of one")
    func nested() throws {
        var found: [Int64] = []
        try connection.query(query.sql, []) { row in
            for number in 0..<150 { _ = try? connection.query("SELECT \(number)", []) { _ in true } }
            if let number = BoundStatement(row).integer(0) { found.append(number) }
            return true
        }
        #expect(found == [1, 2, 3, 4, 5])
    }

    @Test("queries of the same length are kept apart, however many there are")
    func sameLength() throws {
        for _ in 0..<2 {
            for number in 100..<350 {
                var found: Int64?
                try connection.query("SELECT \(number)", []) { row in
                    found = BoundStatement(row).integer(0)
                    return false
                }
                #expect(found == Int64(number))
            }
        }
    }

    @Test("a query for each of several numbers gives their rows in the numbers' order, until it is told to stop")
    func forEach() throws {
        var found: [Int64] = []
        try connection.query("SELECT n FROM a WHERE n = ?", forEach: [4, 9, 2, 3]) { row in
            if let number = BoundStatement(row).integer(0) { found.append(number) }
            return found.count < 2
        }
        #expect(found == [4, 2])
    }

    @Test("a walk reads on where it stopped, and says at the end that there are no more rows")
    func pieces() throws {
        #expect(try walk(2, 1, 9, 1) == [[1, 2], [3], [4, 5], []])
    }

    @Test("the next walk gives the same rows, also more and fewer than the last one")
    func again() throws {
        #expect(try walk(2) == [[1, 2]])
        #expect(try walk(1, 3) == [[1], [2, 3, 4]])
        #expect(try walk(9) == [[1, 2, 3, 4, 5]])
        #expect(try walk(3, 3) == [[1, 2, 3], [4, 5]])
    }

    @Test("many other queries may run between two pieces of a walk, kept or not")
    func nestedInWalk() throws {
        for _ in 0..<2 {
            var found: [Int64] = []
            try connection.snapshot {
                try connection.walk(query) { rows in
                    for count in [2, 2, 2] {
                        found += try rows.next(count)
                        for number in 0..<150 { try connection.query("SELECT \(number)", []) { _ in true } }
                    }
                }
            }
            #expect(found == [1, 2, 3, 4, 5])
            #expect(try walk(2) == [[1, 2]])
        }
    }

    @Test("a walk after a change sees it")
    func changed() throws {
        #expect(try walk(9) == [[1, 2, 3, 4, 5]])
        try writer.write { db in try db.execute(sql: "DELETE FROM a WHERE n = 2") }
        #expect(try walk(9) == [[1, 3, 4, 5]])
    }

    @Test("within a snapshot, a walk sees the same rows before and after a change")
    func snapshot() throws {
        try connection.snapshot {
            let before = try connection.walk(query) { rows in Array(try rows.next(9)) }
            try writer.write { db in try db.execute(sql: "DELETE FROM a WHERE n = 2") }
            #expect(try connection.walk(query) { rows in Array(try rows.next(9)) } == before)
        }
        #expect(try walk(9) == [[1, 3, 4, 5]])
    }
}
