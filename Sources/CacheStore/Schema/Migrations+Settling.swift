extension Migrations {
    static let settling = """
        -- Records whose change was acknowledged and which the server may still show as they were before. Times are
        -- milliseconds since 1970.
        CREATE TABLE sync_settling (
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          kind TEXT NOT NULL CHECK (kind = 'created' OR kind = 'written' OR kind = 'deleted'),
          at INTEGER NOT NULL,            -- when the last change was acknowledged
          position INTEGER NOT NULL,      -- the end of the change log at that time
          changed_at INTEGER,             -- no version with an earlier change time is newer than the change
          exact INTEGER NOT NULL,         -- the acknowledged version has that change time
          confirmed INTEGER NOT NULL,     -- the server has shown the change, and nothing older since
          fields TEXT NOT NULL,           -- field → { ours: value, earlier: [values] }
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO sync_settling
        SELECT entity, record_key, 'deleted', 0, position, NULL, 0, 1, '{}' FROM sync_gone;
        DROP TABLE sync_gone;

        -- Which members each view of a record has, where its views have different ones: view → [names].
        CREATE TABLE sync_view (
          entity TEXT NOT NULL, record_key TEXT NOT NULL, members TEXT NOT NULL,
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;

        -- What the server was seen to make of the values of a field (NormalForm).
        CREATE TABLE sync_normal_form (
          entity TEXT NOT NULL, field TEXT NOT NULL, form TEXT NOT NULL,
          PRIMARY KEY (entity, field, form)
        ) STRICT, WITHOUT ROWID;
        """
}
