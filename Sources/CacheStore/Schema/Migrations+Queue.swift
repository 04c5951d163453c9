/// Makes queue and change log cheap to write: a write pays for no index that no query needs, and no trigger runs.
extension Migrations {
    // A CHECK with IN and more than two values builds a table of them for each row that is written, a foreign key and a
    // trigger run a program of their own: each costs as much as the row itself.
    static let lightQueue = """
        ALTER TABLE sync_change_log ADD COLUMN last_change INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sync_change_log ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
        -- The last row of the log has the greatest id that a change has had, so that none is used twice.
        INSERT INTO sync_change_log (seq, at, kind, entity, keys)
        SELECT 0, 0, 'upserted', '', '[]' WHERE NOT EXISTS (SELECT 1 FROM sync_change_log)
          AND EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'sync_outbox');
        UPDATE sync_change_log
        SET last_change = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'sync_outbox'), 0)
        WHERE seq = (SELECT max(seq) FROM sync_change_log);
        DROP INDEX sync_change_log_by_record;
        -- Which records the entries about changes are about, for each stretch of the log but the newest. Makes up for an
        -- index by record, to which every entry would write a page.
        CREATE TABLE sync_log_part (
          last INTEGER PRIMARY KEY,       -- the last such entry of the stretch
          first INTEGER NOT NULL,         -- the first
          keys TEXT NOT NULL              -- their `keys`, each once, with commas between
        ) STRICT;
        INSERT INTO sync_log_part (last, first, keys)
        SELECT max(seq), min(seq), group_concat(DISTINCT keys) FROM (
          SELECT seq, keys, (row_number() OVER (ORDER BY seq) - 1) / 512 AS part FROM sync_change_log
          WHERE change_id IS NOT NULL)
        GROUP BY part;

        CREATE TABLE sync_outbox_light (
          id INTEGER PRIMARY KEY,         -- never used twice (ChangeLog)
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          operation TEXT NOT NULL CHECK (operation = 'create' OR operation = 'update' OR operation = 'delete'),
          body TEXT NOT NULL,             -- the fields that change, as a JSON object
          base TEXT NOT NULL,             -- what the server had in those fields when they were edited
          idempotency_key TEXT NOT NULL,
          order_group TEXT,               -- changes of one entity with the same group go out in the order written
          state TEXT NOT NULL DEFAULT 'queued'
            CHECK (state = 'queued' OR state = 'uploading' OR state = 'waiting' OR state = 'failed'),
          attempt_count INTEGER NOT NULL DEFAULT 0,  -- failed attempts that count towards the limit
          tried INTEGER NOT NULL DEFAULT 0,          -- attempts that may have reached the upstream
          created_at INTEGER NOT NULL,
          last_attempt_at INTEGER,
          next_attempt_at INTEGER,
          error_class TEXT,
          error_status INTEGER,
          error_message TEXT,
          edited TEXT NOT NULL DEFAULT '{}',         -- when each field was edited, by the server's clock
          known_pk INTEGER,               -- the entity's greatest _pk before the first attempt
          content TEXT                    -- of a change of content: the SHA-256, or '' where content is deleted
        ) STRICT;
        INSERT INTO sync_outbox_light
        SELECT id, entity, record_key, operation, body, base, idempotency_key, order_group, state, attempt_count, tried,
          created_at, last_attempt_at, next_attempt_at, error_class, error_status, error_message, edited, known_pk,
          content
        FROM sync_outbox ORDER BY id;
        CREATE TABLE sync_dependency_light (
          change_id INTEGER NOT NULL,
          needs_id INTEGER NOT NULL,
          PRIMARY KEY (change_id, needs_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO sync_dependency_light SELECT change_id, needs_id FROM sync_dependency ORDER BY 1, 2;

        DROP TABLE sync_dependency;
        DROP TABLE sync_outbox;
        ALTER TABLE sync_outbox_light RENAME TO sync_outbox;
        ALTER TABLE sync_dependency_light RENAME TO sync_dependency;
        CREATE INDEX sync_dependency_by_need ON sync_dependency (needs_id);
        CREATE INDEX sync_outbox_by_record ON sync_outbox (entity, record_key);
        CREATE INDEX sync_outbox_by_group ON sync_outbox (entity, order_group) WHERE order_group IS NOT NULL;
        -- Only what may be sent, so that changes which wait for a person or for their time are not read again and again.
        CREATE INDEX sync_outbox_ready ON sync_outbox (id) WHERE state = 'queued';
        CREATE INDEX sync_outbox_due ON sync_outbox (next_attempt_at) WHERE state = 'waiting';
        CREATE INDEX sync_outbox_failed ON sync_outbox (entity, record_key) WHERE state = 'failed';
        -- Counted when asked for.
        DELETE FROM sync_tally WHERE name IN ('queue', 'failed');

        -- What has to be recomputed is remembered in memory until the end of the transaction.
        DROP TABLE IF EXISTS sync_stale;
        """

    static let attempts = """
        -- When the first attempt under the idempotency key began; null while the change was not tried.
        ALTER TABLE sync_outbox ADD COLUMN first_attempt_at INTEGER;
        -- Of a change that was corrected: what its attempts before may have set on the server, field → [values].
        ALTER TABLE sync_outbox ADD COLUMN sent TEXT;
        -- When it was first missing.
        ALTER TABLE sync_missing ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
        """

    static let traces = """
        -- The trace of the latest caller that named one: `traceparent`, and `tracestate` after a space.
        ALTER TABLE sync_outbox ADD COLUMN trace TEXT;
        """
}
