import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("Parts of texts in SQL")
struct TextPartTests {
    private let folder: TemporaryFolder
    private let writer: DatabasePool
    private let connection: ReadConnection

    init() throws {
        folder = try TemporaryFolder()
        writer = try DatabasePool(path: folder.path("a.db"))
        connection = try ReadConnection(path: folder.path("a.db"))
    }

    /// What a function of two arguments gives; nil for null.
    private func result(_ function: String, _ text: DatabaseValue, _ part: DatabaseValue) throws -> Int64? {
        var result: Int64?
        try connection.query("SELECT \(function)(?, ?)", [text, part]) { row in
            result = BoundStatement(row).integer(0)
            return false
        }
        return result
    }

    @Test(
        "a part is found wherever it is, A to Z in either case",
        arguments: [
            ("Cracked screen", "SCREEN", 1, 0), ("Cracked screen", "cRack", 1, 1), ("ababac", "abac", 1, 0),
            ("aaaaaaab", "aaab", 1, 0), ("aaaaaaaa", "aaab", 0, 0), ("ab", "abc", 0, 0), ("abcabd", "abcabd", 1, 1),
            ("ZOË", "ë", 0, 0), ("Zoë", "ë", 1, 0), ("@[`{", "`", 1, 0), ("@", "`", 0, 0), ("100 %", "%", 1, 0),
            ("a", "_", 0, 0), ("a\0b", "B", 1, 0), ("", "", 1, 1), ("a", "", 1, 1),
        ] as [(String, String, Int64, Int64)])
    func found(_ text: String, _ part: String, _ isIn: Int64, _ isFirst: Int64) throws {
        #expect(try result("text_contains", text.databaseValue, part.databaseValue) == isIn)
        #expect(try result("text_begins", text.databaseValue, part.databaseValue) == isFirst)
    }

    @Test func `numbers are texts, and a null has no parts`() throws {
        #expect(try result("text_contains", 1486.databaseValue, "48".databaseValue) == 1)
        #expect(try result("text_begins", 1486.databaseValue, "48".databaseValue) == 0)
        #expect(try result("text_contains", .null, "a".databaseValue) == nil)
        #expect(try result("text_begins", "a".databaseValue, .null) == nil)
    }
}
