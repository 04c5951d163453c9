extension Migrations {
    static let hooks = """
        -- How far each hook of the configuration is. Times are milliseconds since 1970.
        CREATE TABLE sync_hook (
          name TEXT PRIMARY KEY,
          position INTEGER NOT NULL,      -- in the change log: all events up to it are delivered, parked or skipped
          paused INTEGER NOT NULL DEFAULT 0,
          attempt_count INTEGER NOT NULL DEFAULT 0,  -- failed attempts of the delivery that is next
          next_at INTEGER,                -- when that is tried again
          error TEXT,
          delivered INTEGER NOT NULL DEFAULT 0,
          delivered_at INTEGER
        ) STRICT, WITHOUT ROWID;

        -- Deliveries that failed too often, each with its event as JSON, until someone retries or discards them.
        CREATE TABLE sync_hook_parked (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          hook TEXT NOT NULL,
          event TEXT NOT NULL,
          attempt_count INTEGER NOT NULL,
          reason TEXT NOT NULL,
          parked_at INTEGER NOT NULL,
          wanted INTEGER NOT NULL DEFAULT 0          -- to be tried again
        ) STRICT;
        CREATE INDEX sync_hook_parked_by_hook ON sync_hook_parked (hook, id);
        """
}
