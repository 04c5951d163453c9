internal import GRDB

/// A database's own settings, each a text under a name; in the caller's transaction.
struct SettingTable {
    /// The setting with the name of who is signed in.
    static let accountName = "account_name"

    /// More than all entities of the largest schema need.
    static let most = 100_000

    let db: Database

    subscript(name: String) -> String? {
        get throws {
            try String.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM sync_setting WHERE name = ?"), arguments: [name])
        }
    }

    /// Writes nothing if that is the value.
    func set(_ name: String, to value: String) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_setting VALUES (?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value
                """
        ).execute(arguments: [name, value])
    }

    func remove(_ name: String) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_setting WHERE name = ?").execute(arguments: [name])
    }
}
