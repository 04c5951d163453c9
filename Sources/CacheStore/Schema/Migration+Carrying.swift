internal import GRDB

extension Migrations {
    static let carrying = """
        -- Changes that came from another database, by the idempotency keys that they came with: none comes twice.
        CREATE TABLE sync_carried (idempotency_key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        -- Names the database, copies included.
        INSERT INTO sync_setting VALUES ('database', lower(hex(randomblob(16))));
        """

    /// A number of the database's own in the file's header, where it can be read without the log: a log that has another
    /// is another database's.
    static func setMark(_ db: Database) throws {
        let number = try Int32.fetchOne(db, sql: "SELECT 1 + (random() & 0x3fffffff)") ?? 1
        try db.execute(sql: "PRAGMA application_id = \(number)")
    }
}
