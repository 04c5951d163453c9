extension Migrations {
    /// Makes the change log record each step of a queued change, so that it is also the history of a record.
    static let changeLog = """
        -- The queued change that the entry is about; null for what came from the server.
        ALTER TABLE sync_change_log ADD COLUMN change_id INTEGER;
        -- Details of the step: a JSON object, or null.
        ALTER TABLE sync_change_log ADD COLUMN detail TEXT;
        -- An entry with a change has one key, so the array finds it; pulls are few rows, which are scanned.
        CREATE INDEX sync_change_log_by_record ON sync_change_log (entity, keys) WHERE change_id IS NOT NULL;
        CREATE INDEX sync_change_log_pulled ON sync_change_log (entity) WHERE change_id IS NULL;
        CREATE INDEX sync_alias_by_record ON sync_alias (entity, record_key);
        """
}
