package import GRDB
internal import GRDBSQLite

/// A database from elsewhere can have names and statements of its own. Whatever they say, no further file is opened.
extension Database {
    /// Makes ATTACH fail on this connection.
    package func refuseAttaching() { sqlite3_limit(sqliteConnection, SQLITE_LIMIT_ATTACHED, 0) }

    /// Rewrites the file. SQLite attaches its temporary copy, so only this one statement may attach.
    package func vacuum() throws {
        sqlite3_limit(sqliteConnection, SQLITE_LIMIT_ATTACHED, 1)
        defer { refuseAttaching() }
        try execute(sql: "VACUUM")
    }
}
