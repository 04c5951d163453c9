/// What pulls remember besides their watermark.
extension Migrations {
    static let windows = """
        -- The definition of the window that the last full pull was made with, and how many records its list showed; null
        -- for an entity without a window.
        ALTER TABLE sync_cursor ADD COLUMN "window" TEXT;
        ALTER TABLE sync_cursor ADD COLUMN total INTEGER;
        -- Records that a cached one refers to and that the upstream did not have when it was asked for them.
        CREATE TABLE sync_absent (
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          at INTEGER NOT NULL,
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;
        """

    static let lists = """
        -- The upstream's own mark for what finished pulls brought: a token, or the address of the next request.
        ALTER TABLE sync_cursor ADD COLUMN delta TEXT;
        """
}
