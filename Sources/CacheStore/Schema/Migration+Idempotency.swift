extension Migrations {
    static let idempotency = """
        -- What writes were answered that callers may repeat under keys of their own, for a day at least.
        CREATE TABLE sync_answer (
          key TEXT PRIMARY KEY,
          at INTEGER NOT NULL,
          request TEXT NOT NULL,          -- a fingerprint of it under the key of secrets, since it may hold some
          answer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX sync_answer_by_time ON sync_answer (at);
        """
}
