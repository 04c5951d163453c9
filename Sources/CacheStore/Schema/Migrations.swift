internal import GRDB
internal import SQLiteStore

/// The tables that every cache has, whatever its schema. Only append to this list.
///
/// The entities' own tables are not here: they follow the schema file and are migrated at each start
/// (`EntityTableAdapter`).
enum Migrations {
    static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: queue, cursors, change log") { db in try db.execute(sql: first) }
        migrator.registerMigration("2: conflicts, drift") { db in try db.execute(sql: second) }
        migrator.registerMigration("3: change log and history") { db in try db.execute(sql: changeLog) }
        migrator.registerMigration("4: search") { db in try db.execute(sql: search) }
        migrator.registerMigration("5: idempotency") { db in try db.execute(sql: idempotency) }
        migrator.registerMigration("6: carrying") { db in
            try db.execute(sql: carrying)
            try setMark(db)
        }
        migrator.registerMigration("7: derived fields") { db in try db.execute(sql: stale) }
        migrator.registerMigration("8: content") { db in try db.execute(sql: content) }
        migrator.registerMigration("9: reminders") { db in try db.execute(sql: reminders) }
        migrator.registerMigration("10: light queue") { db in try db.execute(sql: lightQueue) }
        migrator.registerMigration("11: settling, views, normal forms") { db in try db.execute(sql: settling) }
        migrator.registerMigration("12: absence") { db in try db.execute(sql: absence) }
        migrator.registerMigration("13: attempts") { db in try db.execute(sql: attempts) }
        migrator.registerMigration("14: windows") { db in try db.execute(sql: windows) }
        migrator.registerMigration("15: delta tokens") { db in try db.execute(sql: lists) }
        migrator.registerMigration("16: activity") { db in try db.execute(sql: activity) }
        migrator.registerMigration("17: kinds of drift") { db in try db.execute(sql: drift) }
        migrator.registerMigration("18: hooks") { db in try db.execute(sql: hooks) }
        migrator.registerMigration("19: traces") { db in try db.execute(sql: traces) }
        return migrator
    }

    /// All of them, in order.
    static var names: [String] { migrator().migrations }

    /// Throws `.incompatible` for a file of a newer version; `applied` names the migrations that the file has had.
    static func requireKnown(_ applied: Set<String>, path: String) throws(CacheError) {
        guard applied.isSubset(of: names) else {
            throw CacheError.incompatible(
                "\(path) was written by a newer version of repairminder-sync; install that version again")
        }
    }

    /// The names of the migrations that the file has had; none without their table. Throws `.damaged` for one that is no
    /// text, or that damage has changed: it would count as one of a newer version.
    static func applied(_ db: Database) throws -> Set<String> {
        guard try db.tableExists("grdb_migrations") else { return [] }
        var applied: Set<String> = []
        for row in try Row.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations") {
            guard let name: String = row.readable("identifier") else {
                throw CacheError.damaged("grdb_migrations is damaged: the name of a migration is no text")
            }
            applied.insert(name)
        }
        guard !applied.isSubset(of: names) else { return applied }
        let check = try String.fetchOne(db, sql: "PRAGMA integrity_check(grdb_migrations)") ?? "no answer"
        guard check == "ok" else { throw CacheError.damaged("grdb_migrations is damaged: \(check)") }
        return applied
    }

    private static let first = """
        CREATE TABLE sync_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

        -- Local changes on their way upstream, in the order written. A change leaves when the upstream has acknowledged
        -- it or a user has discarded it, never otherwise. Times are milliseconds since 1970.
        CREATE TABLE sync_outbox (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          operation TEXT NOT NULL CHECK (operation IN ('create', 'update', 'delete')),
          body TEXT NOT NULL,             -- the fields that change, as a JSON object
          base TEXT NOT NULL,             -- what the server had in those fields when they were edited
          idempotency_key TEXT NOT NULL UNIQUE,
          order_group TEXT,               -- changes of one entity with the same group go out in the order written
          state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'uploading', 'waiting', 'failed')),
          attempt_count INTEGER NOT NULL DEFAULT 0,  -- failed attempts that count towards the limit
          tried INTEGER NOT NULL DEFAULT 0,          -- attempts that may have reached the upstream
          created_at INTEGER NOT NULL,
          last_attempt_at INTEGER,
          next_attempt_at INTEGER,
          error_class TEXT,
          error_status INTEGER,
          error_message TEXT
        ) STRICT;
        CREATE INDEX sync_outbox_by_record ON sync_outbox (entity, record_key);
        CREATE INDEX sync_outbox_by_group ON sync_outbox (entity, order_group) WHERE order_group IS NOT NULL;
        CREATE INDEX sync_outbox_by_state ON sync_outbox (state, id);

        -- A change waits until everything it needs has left the queue: the change before it on the same record or in
        -- the same group, and the creation of every record that it refers to.
        CREATE TABLE sync_dependency (
          change_id INTEGER NOT NULL REFERENCES sync_outbox (id) ON DELETE CASCADE,
          needs_id INTEGER NOT NULL REFERENCES sync_outbox (id) ON DELETE CASCADE,
          PRIMARY KEY (change_id, needs_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sync_dependency_by_need ON sync_dependency (needs_id);

        -- The pull state of each entity. `pull` is the pull under way, as JSON, so that an interrupted one resumes.
        CREATE TABLE sync_cursor (
          entity TEXT PRIMARY KEY,
          watermark TEXT,
          pull TEXT,
          last_synced_at INTEGER,
          last_full_at INTEGER,
          error TEXT
        ) STRICT, WITHOUT ROWID;

        -- Every committed change in one sequence. A row counts for as many entries as `keys` has elements; `seq` is the
        -- number of the last.
        CREATE TABLE sync_change_log (
          seq INTEGER PRIMARY KEY,
          at INTEGER NOT NULL,
          kind TEXT NOT NULL,
          entity TEXT NOT NULL,
          keys TEXT NOT NULL,
          fields TEXT
        ) STRICT;

        -- Old keys of records that the upstream has given another key.
        CREATE TABLE sync_alias (
          entity TEXT NOT NULL, old_key TEXT NOT NULL, record_key TEXT NOT NULL,
          PRIMARY KEY (entity, old_key)
        ) STRICT, WITHOUT ROWID;

        -- Records that came without a usable key, by their text, so that each is counted once.
        CREATE TABLE sync_set_aside (
          entity TEXT NOT NULL, record TEXT NOT NULL, at INTEGER NOT NULL,
          PRIMARY KEY (entity, record)
        ) STRICT, WITHOUT ROWID;

        -- Counts that are needed too often to run a query each time: `rows:<entity>`, `queue`, `failed`.
        CREATE TABLE sync_tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO sync_tally VALUES ('queue', 0), ('failed', 0);
        CREATE TRIGGER sync_outbox_inserted AFTER INSERT ON sync_outbox BEGIN
          UPDATE sync_tally SET count = count + 1 WHERE name = 'queue';
        END;
        CREATE TRIGGER sync_outbox_deleted AFTER DELETE ON sync_outbox BEGIN
          UPDATE sync_tally SET count = count - 1 WHERE name = 'queue';
          UPDATE sync_tally SET count = count - 1 WHERE name = 'failed' AND OLD.state = 'failed';
        END;
        CREATE TRIGGER sync_outbox_moved AFTER UPDATE OF state ON sync_outbox
        WHEN (OLD.state = 'failed') IS NOT (NEW.state = 'failed') BEGIN
          UPDATE sync_tally SET count = count + iif(NEW.state = 'failed', 1, -1) WHERE name = 'failed';
        END;
        """

    private static let second = """
        -- When each field of a change was edited, by the server's clock: a JSON object of milliseconds.
        ALTER TABLE sync_outbox ADD COLUMN edited TEXT NOT NULL DEFAULT '{}';
        -- The greatest _pk of the entity before the first attempt: the attempt cannot have created anything up to it.
        ALTER TABLE sync_outbox ADD COLUMN known_pk INTEGER;

        -- The greatest lateness of a row so far, in milliseconds: how far its change time was before the watermark.
        ALTER TABLE sync_cursor ADD COLUMN lateness INTEGER NOT NULL DEFAULT 0;
        -- Records that the last full pull did not see, and that are too many to delete without a user's approval.
        ALTER TABLE sync_cursor ADD COLUMN held_deletions INTEGER NOT NULL DEFAULT 0;

        -- Every decision between a local change and a change on the server, kept permanently. Values are JSON text,
        -- null if there was none. `field` is null if the conflict is about the whole record: deleted on one side,
        -- edited on the other.
        CREATE TABLE sync_conflict (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          at INTEGER NOT NULL,
          change_id INTEGER NOT NULL,     -- the change, which may have left the queue since
          entity TEXT NOT NULL,
          record_key TEXT NOT NULL,
          operation TEXT NOT NULL,        -- the change's
          field TEXT,
          base TEXT,
          local TEXT,
          server TEXT,
          local_at INTEGER,               -- when each side was changed, by the server's clock
          server_at INTEGER,
          rule TEXT NOT NULL,             -- the policy that decided, or that leaves it to a person
          winner TEXT CHECK (winner IN ('local', 'server')),  -- null until someone chooses
          decided_at INTEGER,
          undone_at INTEGER
        ) STRICT;
        CREATE INDEX sync_conflict_by_record ON sync_conflict (entity, record_key);
        CREATE INDEX sync_conflict_open ON sync_conflict (change_id) WHERE winner IS NULL;

        -- Records whose deletion was acknowledged when the change log was at `position`: a page requested before that
        -- still has them. Kept until a later page comes.
        CREATE TABLE sync_gone (
          entity TEXT NOT NULL, record_key TEXT NOT NULL, position INTEGER NOT NULL,
          PRIMARY KEY (entity, record_key)
        ) STRICT, WITHOUT ROWID;

        -- Disagreements between records and the schema, counted over the record versions written. The newest has the
        -- greatest id.
        CREATE TABLE sync_drift (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          entity TEXT NOT NULL,
          field TEXT NOT NULL,
          kind TEXT NOT NULL CHECK (kind IN ('unknown', 'missing', 'type', 'value')),
          found TEXT NOT NULL,            -- the JSON type, or the value outside an enum
          count INTEGER NOT NULL,
          example TEXT NOT NULL,          -- the key of the latest record
          first_seen INTEGER NOT NULL,
          last_seen INTEGER NOT NULL,
          UNIQUE (entity, field, kind, found)
        ) STRICT;
        -- Fields of the schema that some record has had, even as null.
        CREATE TABLE sync_field (
          entity TEXT NOT NULL, field TEXT NOT NULL,
          PRIMARY KEY (entity, field)
        ) STRICT, WITHOUT ROWID;

        INSERT INTO sync_tally VALUES ('drift', 0), ('set_aside', (SELECT count(*) FROM sync_set_aside));
        CREATE TRIGGER sync_drift_found AFTER INSERT ON sync_drift BEGIN
          UPDATE sync_tally SET count = count + 1 WHERE name = 'drift';
        END;
        CREATE TRIGGER sync_drift_gone AFTER DELETE ON sync_drift BEGIN
          UPDATE sync_tally SET count = count - 1 WHERE name = 'drift';
        END;
        CREATE TRIGGER sync_record_set_aside AFTER INSERT ON sync_set_aside BEGIN
          UPDATE sync_tally SET count = count + 1 WHERE name = 'set_aside';
        END;
        CREATE TRIGGER sync_record_taken_back AFTER DELETE ON sync_set_aside BEGIN
          UPDATE sync_tally SET count = count - 1 WHERE name = 'set_aside';
        END;

        INSERT INTO sync_tally VALUES ('conflicts', 0);
        CREATE TRIGGER sync_conflict_opened AFTER INSERT ON sync_conflict WHEN NEW.winner IS NULL BEGIN
          UPDATE sync_tally SET count = count + 1 WHERE name = 'conflicts';
        END;
        CREATE TRIGGER sync_conflict_decided AFTER UPDATE OF winner ON sync_conflict
        WHEN OLD.winner IS NULL AND NEW.winner IS NOT NULL BEGIN
          UPDATE sync_tally SET count = count - 1 WHERE name = 'conflicts';
        END;
        """
}
