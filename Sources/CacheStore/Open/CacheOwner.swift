internal import SQLiteStore

/// Whose records a database has, and whether changes wait in it.
package struct CacheOwner: Sendable, Hashable {
    /// Nil while it is not known.
    package var account: String?
    package var hasQueue: Bool

    package init(account: String?, hasQueue: Bool) {
        self.account = account
        self.hasQueue = hasQueue
    }

    /// As recorded in the database at `path`; nil if it cannot be read.
    package init?(ofDatabaseAt path: String) {
        guard let connection = try? ReadConnection(path: path), let owner = try? CacheOwner(read: connection) else {
            return nil
        }
        self = owner
    }

    private init(read connection: ReadConnection) throws {
        var account: String?
        try connection.query("SELECT value FROM sync_setting WHERE name = 'account'", []) { row in
            account = BoundStatement(row).text(0)
            return false
        }
        var hasQueue = false
        try connection.query("SELECT 1 FROM sync_outbox LIMIT 1", []) { _ in
            hasQueue = true
            return false
        }
        self.init(account: account, hasQueue: hasQueue)
    }
}
