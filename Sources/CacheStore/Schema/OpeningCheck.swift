internal import Foundation
internal import GRDB
internal import Glibc
internal import SQLiteStore

/// Checks a database before it is opened for writing: everything that the queue depends on.
///
/// The time depends on the size of the queue, not of the cache; the daily check covers the whole file.
struct OpeningCheck {
    let path: String
    /// See `mark(of:)`.
    let mark: Int32?

    /// The tables that the upstream cannot restore.
    private static let tables = ["sync_outbox", "sync_dependency", "sync_setting", "sync_tally", "sync_cursor"]

    /// Throws `.incompatible` for a file of a newer version, `.damaged`, or SQLite's error. A missing or empty file
    /// passes.
    func run() throws {
        guard size(of: path) > 0 || size(of: path + "-wal") > 0 else { return }
        try DatabaseFile.openReadOnly(path).read { db in
            guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema)") ?? false else { return }
            try Migrations.requireKnownVersion(db, path: path)
            guard try db.tableExists("grdb_migrations"), try db.tableExists("sync_outbox") else {
                throw CacheError.damaged(
                    "\(path) has another program's tables, or its -wal file belongs to another database")
            }
            for table in Self.tables where try db.tableExists(table) {
                let problem = try String.fetchOne(db, sql: "PRAGMA integrity_check(\(table))") ?? "no answer"
                guard problem == "ok" else { throw CacheError.damaged("\(table) is damaged: \(problem)") }
            }
            try requireOwnLog(db)
        }
    }

    /// Otherwise SQLite would silently apply a log that another database left behind.
    private func requireOwnLog(_ db: Database) throws {
        guard let mark, mark != 0, let known = try Int32.fetchOne(db, sql: "PRAGMA application_id"), known != mark
        else { return }
        throw CacheError.damaged("the -wal file of \(path) belongs to another database")
    }

    /// The database's number in the header of the file itself; nil if there is none.
    ///
    /// Read it while this process has no connection to the file: closing the file releases the locks of every
    /// connection.
    static func mark(of path: String) -> Int32? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 72), header.count == 72, header.starts(with: Data("SQLite".utf8))
        else { return nil }
        return header[68..<72].reduce(0) { $0 << 8 | Int32($1) }
    }

    private func size(of path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}
