extension Migrations {
    static let stale = """
        -- Records whose overlay a change to them or to others has made stale, until the end of the transaction that did
        -- it: always empty when it is committed. Filled by triggers, whoever makes the change.
        CREATE TABLE sync_stale (
          entity TEXT NOT NULL, record_key TEXT NOT NULL,
          -- 0: a record that it is worked out from changed; 1: its server's version did; 2: its owner came or went.
          cause INTEGER NOT NULL,
          shown TEXT,                     -- what readers saw of the fields that follow the queue, as a JSON object
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;
        """
}
