internal import CSQLite
package import GRDB
internal import GRDBSQLite

/// Limits every connection, because a database can be from elsewhere, or changed by another program: none opens a further
/// file, and none loads a value that the daemon would never store.
package enum ForeignFile {
    /// In bytes, of a value and of a row: several times what the daemon stores. SQLite's own limit is a gigabyte, and a command
    /// takes up to four times as much memory.
    package static let longestValue: Int32 = 64 << 20

    /// Sets the limits of a connection.
    static func limit(_ connection: OpaquePointer?) {
        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, longestValue)
    }
}

extension Database {
    /// Call it for each connection that is opened.
    package func limitForeignFile() { ForeignFile.limit(sqliteConnection) }

    /// Makes reading a view fail: its SQL is the file's own, and need not end.
    package func refuseViews() { csqlite_refuse_views(sqliteConnection) }

    /// Makes writes run no trigger of the file.
    package func refuseTriggers() { csqlite_refuse_triggers(sqliteConnection) }

    /// Rewrites the file. SQLite attaches its temporary copy, so only this one statement may attach.
    package func vacuum() throws {
        sqlite3_limit(sqliteConnection, SQLITE_LIMIT_ATTACHED, 1)
        defer { limitForeignFile() }
        try execute(sql: "VACUUM")
    }
}
