import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("Checking a table for damage")
struct TableCheckTests {
    /// A table like the queue, one without row ids, and one with an index that is not of columns.
    private static let tables = """
        CREATE TABLE changes (
          id INTEGER PRIMARY KEY AUTOINCREMENT, entity TEXT NOT NULL, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
          body TEXT, tries REAL
        );
        CREATE INDEX changes_by_entity ON changes (entity, key);
        CREATE INDEX changes_failed ON changes (id)
        WHERE state = 'failed';
        CREATE TABLE needs (change INTEGER, needed INTEGER, PRIMARY KEY (change, needed)) WITHOUT ROWID;
        CREATE INDEX needs_by_needed ON needs (needed);
        CREATE TABLE odd (id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX odd_by_lower ON odd (lower(name));
        CREATE TABLE empty (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
        INSERT INTO changes (entity, key, state, body, tries)
        SELECT iif(n % 3, 'orders', 'clients'), printf('key-%05d', n), iif(n % 7, 'queued', 'failed'),
          iif(n % 5, hex(zeroblob(n % 200)), NULL), n / 3.0
        FROM numbers;
        INSERT INTO needs SELECT id, id % 10 FROM changes;
        INSERT INTO odd SELECT id, key FROM changes;
        CREATE TABLE named (id INTEGER PRIMARY KEY, state TEXT);
        CREATE INDEX "named WHERE (state" ON named (id) WHERE state = 'failed';
        INSERT INTO named SELECT id, state FROM changes;
        """

    private let folder: TemporaryFolder
    private var path: String { folder.path("table.db") }

    init() throws {
        folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: Self.tables) }
        try queue.close()
    }

    private func problem(of table: String) throws -> String? {
        try TableCheck(ReadConnection(path: path)).problem(of: table)
    }

    /// Replaces bytes wherever the pages of a table or index have them; returns how often.
    private func replace(_ old: String, with new: String, in name: String) throws -> Int {
        let pages = try DatabaseQueue(path: path).read { db in
            try Int.fetchAll(db, sql: "SELECT pageno FROM dbstat WHERE name = ?", arguments: [name])
        }
        var file = try Data(contentsOf: URL(filePath: path))
        var count = 0
        for page in pages {
            let range = (page - 1) * 4096..<page * 4096
            while let place = file.range(of: Data(old.utf8), in: range) {
                file.replaceSubrange(place, with: Data(new.utf8))
                count += 1
            }
        }
        try file.write(to: URL(filePath: path))
        return count
    }

    @Test("sound tables have no problem", arguments: ["changes", "needs", "odd", "empty", "named"])
    func sound(table: String) throws {
        #expect(try problem(of: table) == nil)
    }

    @Test(
        "an entry that differs between a table and an index is found",
        arguments: ["changes", "changes_by_entity", "sqlite_autoindex_changes_1"])
    func changedText(place: String) throws {
        #expect(try replace("key-01234", with: "key-01235", in: place) == 1)
        #expect(try problem(of: "changes") != nil)
    }

    @Test("a row that a partial index should have, and has not, is found")
    func changedState() throws {
        #expect(try replace("orderskey-00007failed", with: "orderskey-00007queued", in: "changes") == 1)
        #expect(try problem(of: "changes")?.contains("changes_failed") == true)
    }

    @Test("an index of an expression is checked too")
    func expression() throws {
        #expect(try replace("key-01234", with: "key-01235", in: "odd_by_lower") == 1)
        #expect(try problem(of: "odd") != nil)
    }

    @Test("a damaged page is found in a table and in an index", arguments: ["changes", "changes_failed", "needs"])
    func page(name: String) throws {
        let page = try DatabaseQueue(path: path).read { db in
            try Int.fetchOne(
                db, sql: "SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'", arguments: [name])
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(try #require(page) - 1) * 4096)
        try file.write(contentsOf: Data([0xFF, 0, 0, 0xFF, 0xFF]))
        try file.close()
        #expect(try problem(of: name == "needs" ? "needs" : "changes") != nil)
    }
}
