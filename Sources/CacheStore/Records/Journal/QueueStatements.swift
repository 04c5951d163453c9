internal import SQLiteStore

/// The statements of every queued change, kept prepared by number.
struct QueueStatements: Sendable {
    /// The current key of a record that had another one, by entity and former key.
    let alias: NumberedSQL
    /// One row if any record has had another key.
    let anyAlias: NumberedSQL
    /// The changes of a record, oldest first, by entity and key; and one change by its id.
    let changes: NumberedSQL
    let change: NumberedSQL
    /// Adds a change.
    let insert: NumberedSQL
    /// Adds an entry to the change log.
    let log: NumberedSQL
    /// See `LastNumbers`.
    let numbers: NumberedSQL

    init(_ numbers: inout StatementNumbers) {
        alias = numbers.next("SELECT record_key FROM sync_alias WHERE entity = ? AND old_key = ?")
        anyAlias = numbers.next("SELECT 1 FROM sync_alias LIMIT 1")
        changes = numbers.next("\(Self.columns) WHERE entity = ? AND record_key = ? ORDER BY id")
        change = numbers.next("\(Self.columns) WHERE id = ?")
        insert = numbers.next(
            """
            INSERT INTO sync_outbox (id, entity, record_key, operation, body, base, edited, idempotency_key,
              order_group, created_at, content, trace)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        // `seq` is the row's last number; each key has one. Pruning leaves the last row, so no number is reused.
        // `last_change` is the greatest id of a change so far, `steps` counts the entries about changes.
        log = numbers.next(
            """
            INSERT INTO sync_change_log (seq, at, kind, entity, keys, fields, change_id, detail, last_change, steps)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        self.numbers = numbers.next(LastNumbers.sql)
    }

    /// The columns that `OutboxTable.Entry` takes, in its order.
    static let columns = """
        SELECT id, entity, record_key, operation, body, base, edited, created_at, tried, state, content,
          error_class, sent, first_attempt_at
        FROM sync_outbox
        """

    /// An id that no change has had.
    static let nextID = "1 + max(coalesce((SELECT max(id) FROM sync_outbox), 0), \(ChangeLog.lastChange))"
}
