import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("Statements of the writing connection")
struct WriterStatementsTests {
    private let folder: TemporaryFolder
    private let pool: DatabasePool
    private let statements = WriterStatements()
    private let insert: NumberedSQL
    private let names: NumberedSQL

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.path("statements.db"))
        var numbers = StatementNumbers()
        insert = numbers.next("INSERT INTO people (name, age) VALUES (?, ?)")
        names = numbers.next("SELECT name, age FROM people WHERE age >= ? ORDER BY age")
        try pool.write { try $0.execute(sql: "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)") }
    }

    private func people(from age: Int64 = 0) throws -> [String] {
        try pool.write { db in
            try statements.with(names, on: db) { statement in
                try statement.bind(age, to: 1)
                var found: [String] = []
                while try statement.step() { found.append("\(statement.text(0) ?? "-") \(statement.integer(1) ?? -1)") }
                return found
            }
        }
    }

    private func add(_ name: String?, _ age: Int) throws {
        try pool.write { try statements.execute(insert, [name.databaseValue, age.databaseValue], on: $0) }
    }

    @Test("a statement runs again with other values")
    func again() throws {
        try add("Ada", 36)
        try add("Zoë \u{1F600}", 7)
        try add("", 50)
        try add(nil, 51)
        #expect(try people() == ["Zoë \u{1F600} 7", "Ada 36", " 50", "- 51"])
        #expect(try people(from: 40) == [" 50", "- 51"])
    }

    @Test("a statement survives a change of the schema, which prepares it again")
    func schemaChange() throws {
        try add("Ada", 36)
        #expect(try people() == ["Ada 36"])
        try pool.write { db in
            try db.execute(sql: "ALTER TABLE people RENAME TO persons; CREATE TABLE people (name, age)")
        }
        try add("Bob", 20)
        #expect(try people() == ["Bob 20"])
    }

    @Test("a statement can run inside itself and inside another")
    func nested() throws {
        try add("Ada", 36)
        try add("Bob", 20)
        try pool.write { db in
            try statements.with(names, on: db) { outer in
                try outer.bind(Int64(0), to: 1)
                while try outer.step() {
                    let age = try #require(outer.integer(1))
                    try statements.with(names, on: db) { inner in
                        try inner.bind(age + 1, to: 1)
                        if try !inner.step() {
                            try statements.execute(insert, ["Eve".databaseValue, 10.databaseValue], on: db)
                        }
                    }
                }
            }
        }
        #expect(try people() == ["Eve 10", "Bob 20", "Ada 36"])
    }

    @Test("an error of SQLite is thrown, and the statement works afterwards")
    func error() throws {
        try pool.write { try $0.execute(sql: "CREATE UNIQUE INDEX by_age ON people (age)") }
        try add("Ada", 36)
        #expect { try add("Bob", 36) } throws: { error in
            (error as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
        }
        try add("Bob", 20)
        #expect(try people() == ["Bob 20", "Ada 36"])
    }

    @Test("a statement that its transaction rolls back leaves nothing")
    func rollback() throws {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try pool.write { db in
                try statements.execute(insert, ["Ada".databaseValue, 36.databaseValue], on: db)
                throw Refused()
            }
        }
        #expect(try people() == [])
    }

    @Test("another connection is refused")
    func otherConnection() throws {
        try add("Ada", 36)
        let other = try DatabaseQueue(path: folder.path("statements.db"))
        #expect(throws: CacheError.self) {
            try other.write { try statements.execute(insert, ["Bob".databaseValue, 20.databaseValue], on: $0) }
        }
        #expect(try people() == ["Ada 36"])
    }

    @Test("the connection closes once its statements are released")
    func release() throws {
        try add("Ada", 36)
        pool.writeWithoutTransaction { _ in statements.release() }
        try add("Bob", 20)
        pool.writeWithoutTransaction { _ in statements.release() }
        try pool.close()
    }
}
