/// What is remembered of records that seem to be gone, and of lists that cannot be believed.
extension Migrations {
    static let absence = """
        -- Records that the last full pull did not show and that could not be asked for by their keys. One that the next
        -- full pull does not show either is deleted.
        CREATE TABLE sync_missing (
          entity TEXT NOT NULL,
          record_pk INTEGER NOT NULL,
          record_key TEXT NOT NULL,
          PRIMARY KEY (entity, record_pk)
        ) STRICT, WITHOUT ROWID;
        -- Why the last full pull was not believed, in words; null if it was.
        ALTER TABLE sync_cursor ADD COLUMN held TEXT;
        -- How the list disagrees with itself each time it is read, and how often that was seen in a row.
        ALTER TABLE sync_cursor ADD COLUMN list_gap TEXT;

        -- The same table with one more kind of drift: the list as a whole is not what the schema says. It is not renamed,
        -- because that would check the triggers of an older layout, which refer to tables that are gone.
        CREATE TABLE sync_drift_kept AS SELECT * FROM sync_drift;
        DROP TABLE sync_drift;
        CREATE TABLE sync_drift (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          entity TEXT NOT NULL,
          field TEXT NOT NULL,
          kind TEXT NOT NULL CHECK (kind IN ('unknown', 'missing', 'type', 'value', 'list')),
          found TEXT NOT NULL,            -- the JSON type, the value outside an enum, or what is wrong with the list
          count INTEGER NOT NULL,
          example TEXT NOT NULL,          -- the key of the latest record
          first_seen INTEGER NOT NULL,
          last_seen INTEGER NOT NULL,
          UNIQUE (entity, field, kind, found)
        ) STRICT;
        INSERT INTO sync_drift SELECT * FROM sync_drift_kept;
        DROP TABLE sync_drift_kept;
        CREATE TRIGGER sync_drift_found AFTER INSERT ON sync_drift BEGIN
          UPDATE sync_tally SET count = count + 1 WHERE name = 'drift';
        END;
        CREATE TRIGGER sync_drift_gone AFTER DELETE ON sync_drift BEGIN
          UPDATE sync_tally SET count = count - 1 WHERE name = 'drift';
        END;
        """
}
