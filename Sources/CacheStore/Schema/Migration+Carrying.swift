internal import GRDB

extension Migrations {
    static let carrying = """
        -- Changes imported from another database, by their idempotency keys, so that none is imported twice.
        CREATE TABLE sync_carried (idempotency_key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        -- Identifies the database and all its copies.
        INSERT INTO sync_setting VALUES ('database', lower(hex(randomblob(16))));
        """

    /// Writes a random number into the file's header, where it can be read without the log: a log with another number
    /// belongs to another database.
    static func setMark(_ db: Database) throws {
        let number = try Int32.fetchOne(db, sql: "SELECT 1 + (random() & 0x3fffffff)") ?? 1
        try db.execute(sql: "PRAGMA application_id = \(number)")
    }
}
