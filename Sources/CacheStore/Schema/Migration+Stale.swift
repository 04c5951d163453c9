extension Migrations {
    static let stale = """
        -- Records whose overlay is stale because of a change to them or to other records, until the end of the
        -- transaction that made the change: always empty after a commit. Triggers fill it, whatever makes the change.
        CREATE TABLE sync_stale (
          entity TEXT NOT NULL, record_key TEXT NOT NULL,
          -- 0: a record that it is worked out from changed; 1: its server's version did; 2: its owner came or went.
          cause INTEGER NOT NULL,
          shown TEXT,                     -- what readers saw of the fields that follow the queue, as a JSON object
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;
        """
}
