internal import GRDB

/// The statements of the later migrations, in their order.
extension Migrations {
    /// Makes the change log record each step of a queued change, so that it is also the history of a record.
    static let changeLog = """
        -- The queued change that the entry is about; null for what came from the server.
        ALTER TABLE sync_change_log ADD COLUMN change_id INTEGER;
        -- More details of that step: a JSON object, or null.
        ALTER TABLE sync_change_log ADD COLUMN detail TEXT;
        -- Such an entry has one key, so its array is an exact match; pulls are few rows, which are scanned.
        CREATE INDEX sync_change_log_by_record ON sync_change_log (entity, keys) WHERE change_id IS NOT NULL;
        CREATE INDEX sync_change_log_pulled ON sync_change_log (entity) WHERE change_id IS NULL;
        CREATE INDEX sync_alias_by_record ON sync_alias (entity, record_key);
        """

    static let search = """
        -- The full-text index of each entity that has one: its definition, and the last _pk that it covers. Records up
        -- to there are indexed by the transaction that writes them, those after it in batches (SearchIndex).
        CREATE TABLE sync_search (
          entity TEXT PRIMARY KEY,
          definition TEXT NOT NULL,
          indexed_to INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    static let idempotency = """
        -- The answers to writes that callers may repeat under their own keys, kept for at least a day.
        CREATE TABLE sync_answer (
          key TEXT PRIMARY KEY,
          at INTEGER NOT NULL,
          request TEXT NOT NULL,          -- a fingerprint made with the secret key, since the request may hold secrets
          answer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX sync_answer_by_time ON sync_answer (at);
        """

    static let carrying = """
        -- Changes imported from another database, by their idempotency keys, so that none is imported twice.
        CREATE TABLE sync_carried (idempotency_key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        -- Names the database, copies included.
        INSERT INTO sync_setting VALUES ('database', lower(hex(randomblob(16))));
        """

    /// Writes a random number into the file's header, where it can be read without the log: a log with another number
    /// belongs to another database.
    static func setMark(_ db: Database) throws {
        let number = try Int32.fetchOne(db, sql: "SELECT 1 + (random() & 0x3fffffff)") ?? 1
        try db.execute(sql: "PRAGMA application_id = \(number)")
    }

    static let stale = """
        -- Records whose overlay a change to them or to others has made stale, until the end of the transaction that did
        -- it: always empty when it is committed. Filled by triggers, whatever makes the change.
        CREATE TABLE sync_stale (
          entity TEXT NOT NULL, record_key TEXT NOT NULL,
          -- 0: a record that it is computed from changed; 1: its server's version did; 2: its owner was added or
          -- removed.
          cause INTEGER NOT NULL,
          shown TEXT,                     -- what readers saw of the fields that follow the queue, as a JSON object
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;
        """

    static let content = """
        -- The files of contents that are here. `uses` counts the records and queued changes that refer to one, `queued`
        -- only the changes, which keep it from being dropped to save space. Triggers count, so no code path can
        -- miscount.
        CREATE TABLE sync_content (
          sha256 TEXT PRIMARY KEY,
          size INTEGER NOT NULL,
          type TEXT NOT NULL,             -- the media type
          used_at INTEGER NOT NULL,       -- to the hour
          uses INTEGER NOT NULL DEFAULT 0,
          queued INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sync_content_unused ON sync_content (sha256) WHERE uses = 0;
        CREATE INDEX sync_content_by_use ON sync_content (used_at) WHERE queued = 0;

        -- Of a change of a record's content alone: the SHA-256 of what is uploaded, or '' where content is deleted.
        ALTER TABLE sync_outbox ADD COLUMN content TEXT;
        CREATE TRIGGER sync_outbox_content_added AFTER INSERT ON sync_outbox WHEN NEW.content <> '' BEGIN
          UPDATE sync_content SET uses = uses + 1, queued = queued + 1 WHERE sha256 = NEW.content;
        END;
        CREATE TRIGGER sync_outbox_content_removed AFTER DELETE ON sync_outbox WHEN OLD.content <> '' BEGIN
          UPDATE sync_content SET uses = uses - 1, queued = queued - 1 WHERE sha256 = OLD.content;
        END;
        CREATE TRIGGER sync_outbox_content_moved AFTER UPDATE OF content ON sync_outbox
        WHEN OLD.content IS NOT NEW.content BEGIN
          UPDATE sync_content SET uses = uses - 1, queued = queued - 1 WHERE sha256 = OLD.content;
          UPDATE sync_content SET uses = uses + 1, queued = queued + 1 WHERE sha256 = NEW.content;
        END;
        """

    static let reminders = """
        -- One row for each record with a reminder by a rule of the schema, kept up to date by triggers on the record's
        -- table (ReminderTriggers). Times are milliseconds since 1970.
        CREATE TABLE sync_reminder (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          rule TEXT NOT NULL,
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          due_at INTEGER NOT NULL,        -- computed by the rule from the record's time
          state TEXT NOT NULL DEFAULT 'scheduled'
            CHECK (state IN ('scheduled', 'due', 'delivered', 'snoozed', 'dismissed')),
          next_at INTEGER,                -- when work is due: it falls due, or is delivered (again)
          withdrawn INTEGER NOT NULL DEFAULT 0,      -- the record no longer matches, or is deleted
          attempt_count INTEGER NOT NULL DEFAULT 0,  -- deliveries begun
          delivered_at INTEGER,
          error TEXT,
          into_entity TEXT,               -- the record that represents it, if the rule has one
          into_key TEXT,
          stale INTEGER NOT NULL DEFAULT 1,          -- that record is outdated, or this row must be deleted
          UNIQUE (rule, record_key)
        ) STRICT;
        CREATE INDEX sync_reminder_by_time ON sync_reminder (due_at, id) WHERE withdrawn = 0;
        CREATE INDEX sync_reminder_next ON sync_reminder (next_at) WHERE withdrawn = 0 AND next_at IS NOT NULL;
        CREATE INDEX sync_reminder_stale ON sync_reminder (id) WHERE stale = 1;
        """
}
