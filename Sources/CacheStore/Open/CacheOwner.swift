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
        let account = "SELECT value FROM sync_setting WHERE name = 'account'"
        self.init(
            account: try connection.first(account) { BoundStatement($0).text(0) } ?? nil,
            hasQueue: try connection.first("SELECT 1 FROM sync_outbox LIMIT 1") { _ in true } ?? false)
    }
}
