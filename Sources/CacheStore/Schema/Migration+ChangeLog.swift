extension Migrations {
    /// The change log tells of each step of a queued change, so that it is the history of a record, too.
    static let changeLog = """
        -- The change of the queue that the entry is about; null for what came from the server.
        ALTER TABLE sync_change_log ADD COLUMN change_id INTEGER;
        -- What there is to say of that step besides: a JSON object, or null.
        ALTER TABLE sync_change_log ADD COLUMN detail TEXT;
        -- Such an entry stands for one key, so the array finds it; pulls are few rows, which are looked through.
        CREATE INDEX sync_change_log_by_record ON sync_change_log (entity, keys) WHERE change_id IS NOT NULL;
        CREATE INDEX sync_change_log_pulled ON sync_change_log (entity) WHERE change_id IS NULL;
        CREATE INDEX sync_alias_by_record ON sync_alias (entity, record_key);
        """
}
