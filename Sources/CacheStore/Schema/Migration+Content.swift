extension Migrations {
    static let content = """
        -- The content files stored here. `uses` counts the records and queued changes that refer to one; `queued`
        -- counts the queued changes alone, which keep it from being evicted. Triggers count, so that no code path can
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

        -- For a change of a record's content alone: the SHA-256 of the upload, or '' to delete the content.
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
}
