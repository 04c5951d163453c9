internal import Foundation
internal import GRDB
internal import Glibc
internal import SQLiteStore

/// What is looked at before a database is opened to be written to: what must be right for the queue to be.
///
/// Takes as long as the queue is large, however large the cache; the daily check looks at all of it.
struct OpeningCheck {
    let path: String
    /// See `mark(of:)`.
    let mark: Int32?

    /// The tables whose loss nothing upstream makes good.
    private static let tables = ["sync_outbox", "sync_dependency", "sync_setting", "sync_tally", "sync_cursor"]

    /// Throws `.incompatible` for a file of a newer version, `.damaged`, or what SQLite says. A file that is not there yet,
    /// or holds nothing, is as it should be.
    func run() throws {
        guard size(of: path) > 0 || size(of: path + "-wal") > 0 else { return }
        try DatabaseFile.openReadOnly(path).read { db in
            guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema)") ?? false else { return }
            try Migrations.requireKnownVersion(db, path: path)
            guard try db.tableExists("grdb_migrations"), try db.tableExists("sync_outbox") else {
                throw CacheError.damaged("\(path) holds another program's tables, or the log beside it is another's")
            }
            for table in Self.tables where try db.tableExists(table) {
                let problem = try String.fetchOne(db, sql: "PRAGMA integrity_check(\(table))") ?? "no answer"
                guard problem == "ok" else { throw CacheError.damaged("\(table) is damaged: \(problem)") }
            }
            try requireOwnLog(db)
        }
    }

    /// A log that another database left would be laid over this one without a word.
    private func requireOwnLog(_ db: Database) throws {
        guard let mark, mark != 0, let known = try Int32.fetchOne(db, sql: "PRAGMA application_id"), known != mark
        else { return }
        throw CacheError.damaged("the log beside \(path) is another database's")
    }

    /// The number of the database in the header of the file itself; nil where there is none.
    ///
    /// To be read while this process has no connection to the file: closing the file ends the locks of all of them.
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
