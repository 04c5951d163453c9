extension Migrations {
    static let activity = """
        -- What happened in each minute, counted since 1970. A minute without a row was as the one before at its end, and
        -- nothing happened in it; unless the next row has `starts`, then the daemon did not run.
        CREATE TABLE sync_activity (
          minute INTEGER PRIMARY KEY,
          pending INTEGER NOT NULL,       -- at its end
          failed INTEGER NOT NULL,        -- at its end
          starts INTEGER NOT NULL,        -- 1 if the daemon started in it
          syncs INTEGER NOT NULL,
          sync_ms INTEGER NOT NULL,       -- how long the syncs took together
          unreachable_ms INTEGER NOT NULL,
          requests_2xx INTEGER NOT NULL,
          requests_3xx INTEGER NOT NULL,
          requests_4xx INTEGER NOT NULL,
          requests_5xx INTEGER NOT NULL,
          requests_unreachable INTEGER NOT NULL
        ) STRICT;
        """
}
