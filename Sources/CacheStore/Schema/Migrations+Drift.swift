extension Migrations {
    static let drift = """
        -- The same table without a list of kinds, which the daemon knows. It is not renamed, because that would check the
        -- triggers of an older layout, which refer to tables that are gone.
        CREATE TABLE sync_drift_kept AS SELECT * FROM sync_drift;
        DROP TABLE sync_drift;
        CREATE TABLE sync_drift (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          entity TEXT NOT NULL,
          field TEXT NOT NULL,
          kind TEXT NOT NULL,
          found TEXT NOT NULL,            -- the JSON type, the value outside an enum, or what is wrong in words
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
