internal import Foundation
internal import SQLiteStore

/// Checks a database before it is opened for writing: everything that the queue depends on.
///
/// The time depends on the size of the queue, not of the cache; the daily check covers the whole file.
struct OpeningCheck {
    let path: String
    /// See `mark(of:)`.
    let mark: Int32?
    let connection: ReadConnection

    /// The tables that the upstream cannot restore.
    private static let tables = ["sync_outbox", "sync_dependency", "sync_setting", "sync_tally", "sync_cursor"]

    /// Throws `.incompatible` for a file of a newer version, `.damaged`, or SQLite's error. An empty file passes.
    func run() throws {
        guard DatabaseFile.size(of: [path, path + "-wal"]) > 0 else { return }
        try connection.snapshot {
            let present = try Self.names("SELECT name FROM sqlite_schema WHERE type = 'table'", connection)
            guard !present.isEmpty else { return }
            let isMigrated = present.contains("grdb_migrations")
            if isMigrated {
                let applied = try Self.migrations(connection)
                try Migrations.requireKnown(applied, path: path)
                // A crash while the file was made.
                if applied.isEmpty && present.count == 1 { return }
            }
            guard isMigrated, present.contains("sync_outbox") else {
                throw CacheError.damaged(
                    "\(path) has another program's tables, or its -wal file belongs to another database")
            }
            let check = try TableCheck(connection)
            for table in Self.tables where present.contains(table) {
                guard let problem = try check.problem(of: table) else { continue }
                throw CacheError.damaged("\(table) is damaged: \(problem)")
            }
            try requireOwnLog()
        }
    }

    /// The names of the migrations that the file has had. Throws `.damaged` when damage has changed them: the file would
    /// seem to be of a newer version, and its queue would not be rescued.
    static func migrations(_ connection: ReadConnection) throws -> Set<String> {
        let names = try names("SELECT identifier FROM grdb_migrations", connection)
        guard let problem = try TableCheck(connection).problem(of: "grdb_migrations") else { return names }
        throw CacheError.damaged("grdb_migrations is damaged: \(problem)")
    }

    private static func names(_ sql: String, _ connection: ReadConnection) throws -> Set<String> {
        var names: Set<String> = []
        try connection.query(sql, []) { row in
            if let name = BoundStatement(row).text(0) { names.insert(name) }
            return true
        }
        return names
    }

    /// Otherwise SQLite would silently apply a log that another database left behind.
    private func requireOwnLog() throws {
        guard let mark, mark != 0 else { return }
        let known = try connection.first("PRAGMA application_id") { BoundStatement($0).integer(0) } ?? nil
        guard let known, known != Int64(mark) else { return }
        throw CacheError.damaged("the -wal file of \(path) belongs to another database")
    }

    /// The database's number in the header of the file itself; nil if there is none.
    ///
    /// Read it while this process has no connection to the file: closing the file releases the locks of every
    /// connection.
    static func mark(of path: String) -> Int32? { header(of: path)?[68..<72].reduce(0) { $0 << 8 | Int32($1) } }

    /// What in the header of the file has SQLite open it, but not write to it; nil if nothing has. Read it as `mark(of:)` is
    /// read. SQLite finds damage to any other byte of the header by itself, or it makes no difference.
    static func headerProblem(of path: String) -> String? {
        guard let header = header(of: path) else { return nil }
        // A format that SQLite does not know is only read.
        guard (1...2).contains(header[18]) else { return "its header has an unknown format" }
        // UTF-8, by its last two bits, or 0 in a file without tables. With others SQLite attaches no other database to it.
        let encoding = header[56..<60].reduce(0) { $0 << 8 | Int($1) }
        return encoding == 0 || encoding & 3 == 1 ? nil : "its header has an unknown text encoding"
    }

    /// Its first 100 bytes; nil for what is no database.
    private static func header(of path: String) -> [UInt8]? {
        guard (try? DatabaseFile.requireRegular(path)) != nil, let file = FileHandle(forReadingAtPath: path) else {
            return nil
        }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 100), header.count == 100, header.starts(with: Data("SQLite".utf8))
        else { return nil }
        return Array(header)
    }
}
