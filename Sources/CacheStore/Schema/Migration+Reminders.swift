extension Migrations {
    static let reminders = """
        -- One row for each record that matches a reminder rule of the schema, kept in step by triggers on the record's
        -- table (ReminderTriggers). Times are milliseconds since 1970.
        CREATE TABLE sync_reminder (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          rule TEXT NOT NULL,
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          due_at INTEGER NOT NULL,        -- what the rule makes of the record's time
          state TEXT NOT NULL DEFAULT 'scheduled'
            CHECK (state IN ('scheduled', 'due', 'delivered', 'snoozed', 'dismissed')),
          next_at INTEGER,                -- when there is something to do: it falls due, or is delivered (again)
          withdrawn INTEGER NOT NULL DEFAULT 0,      -- the record is done with, or gone
          attempt_count INTEGER NOT NULL DEFAULT 0,  -- deliveries begun
          delivered_at INTEGER,
          error TEXT,
          into_entity TEXT,               -- the record that stands for it, where the rule wants one
          into_key TEXT,
          stale INTEGER NOT NULL DEFAULT 1,          -- that record is behind, or the row itself is to go
          UNIQUE (rule, record_key)
        ) STRICT;
        CREATE INDEX sync_reminder_by_time ON sync_reminder (due_at, id) WHERE withdrawn = 0;
        CREATE INDEX sync_reminder_next ON sync_reminder (next_at) WHERE withdrawn = 0 AND next_at IS NOT NULL;
        CREATE INDEX sync_reminder_stale ON sync_reminder (id) WHERE stale = 1;
        """
}
