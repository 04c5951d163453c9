extension Migrations {
    static let idempotency = """
        -- Answers to writes that callers may repeat under their own idempotency keys, kept for at least a day.
        CREATE TABLE sync_answer (
          key TEXT PRIMARY KEY,
          at INTEGER NOT NULL,
          request TEXT NOT NULL,          -- a fingerprint of it under the key of secrets, since it may hold some
          answer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX sync_answer_by_time ON sync_answer (at);
        """
}
