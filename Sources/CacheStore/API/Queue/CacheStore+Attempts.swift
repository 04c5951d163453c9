package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Attempts to send queued changes, and their outcomes.
extension CacheStore {
    /// Records the attempt before it is made. False when the change is not as it was read: it left the queue, is being
    /// sent, was tried since, or has another body.
    ///
    /// `isLookUp`: nothing is sent, so the time of the last attempt stays.
    package func begin(_ change: OutboxChange, at now: Timestamp, isLookUp: Bool = false) async throws -> Bool {
        let table = try table(change.entity)
        return try await self.change(at: now) { [self] context in try begin(change, in: table, isLookUp, context) }
    }

    /// The same for the changes of a batch, in one transaction. Returns those that have begun. Of the `hidden` ones the
    /// batch does not carry the keys that the upstream would know them by.
    package func begin(
        batch changes: [OutboxChange], hidingKeysOf hidden: Set<Int64> = [], at now: Timestamp
    ) async throws -> Set<Int64> {
        let tables = try changes.map { try table($0.entity) }
        return try await self.change(at: now) { [self] context in
            var begun: Set<Int64> = []
            for (change, table) in zip(changes, tables) where try begin(change, in: table, false, context) {
                if hidden.contains(change.id) { try context.queue.hideKey(change.id) }
                begun.insert(change.id)
            }
            return begun
        }
    }

    private func begin(
        _ change: OutboxChange, in table: EntityTable, _ isLookUp: Bool, _ context: WriteContext
    ) throws -> Bool {
        guard try context.queue.begin(change, in: table, at: context.now, isLookUp: isLookUp) else { return false }
        try context.log.append(
            .uploading, change: change.id, entity: change.entity, key: change.key,
            fields: change.storedBody.members.map(\.key), detail: [("attempt", .integer(change.tried + 1))])
        // Readers see the state of the upload (`ContentPlan.state`).
        if change.content != nil { try context.writer(table).rebuildDocument(over: change.key) }
        return true
    }

    /// Applies the outcome of an attempt to the change and its record, in one transaction. Throws `.conflict` when no
    /// attempt is under way, unless the upstream has accepted the change. `takingBack`: the upstream applied nothing of the
    /// attempt, so a change that waits or failed is as likely to have arrived as before.
    package func finish(
        _ id: Int64, _ outcome: PushOutcome, takingBack: Bool = false, at now: Timestamp
    ) async throws {
        try await change(at: now) { context in
            try OutcomeApplier(context: context).apply(outcome, to: id, takingBack: takingBack)
        }
    }

    /// Makes changes ready again if the process ended during their attempts; they keep their idempotency keys.
    ///
    /// A clock that was set back must not make changes wait for years: `longest` is the longest wait after a number of
    /// attempts. The upstream may have asked for a wait of an hour.
    package func recoverInterrupted(at now: Timestamp, longest: (_ attempts: Int) -> Duration) async throws -> Int {
        let attempts = try read { db in
            try Int.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT attempt_count FROM sync_outbox
                    WHERE state = \(OutboxState.waiting.sql) AND next_attempt_at > ?
                    """,
                arguments: [now.milliseconds])
        }
        let waits = attempts.map { (attempts: $0, until: (now + longest($0)).milliseconds) }
        return try await change(at: now) { [self] context in
            for wait in waits {
                try context.db.execute(
                    sql: Self.shortenWaitsSQL, arguments: [now.milliseconds, wait.until, wait.attempts])
            }
            return try recover(nil, context)
        }
    }

    /// The upstream may have asked for an hour at ?1; others wait until ?2 at most.
    private static let shortenWaitsSQL = """
        UPDATE sync_outbox
        SET next_attempt_at = min(next_attempt_at, iif(error_class = 'throttled', ?1 + 3600000, ?2))
        WHERE state = \(OutboxState.waiting.sql) AND attempt_count = ?3
        """

    /// The same for these changes only, whose attempts ended without a stored outcome.
    package func recoverUnfinished(_ changes: Set<Int64>, at now: Timestamp) async throws -> Int {
        try await change(at: now) { [self] context in try recover(changes, context) }
    }

    private func recover(_ changes: Set<Int64>?, _ context: WriteContext) throws -> Int {
        let rows = try context.queue.recover(changes)
        for row in rows {
            try context.log.append(queuedAgain: row, .interrupted)
            try OutcomeApplier(context: context).catchUp(row["entity"], row["record_key"])
        }
        return rows.count
    }

    /// Makes waiting changes due at once: the upstream is back. Those that it asked to wait with still wait. `ids`: only
    /// these; nil for all.
    package func hastenWaiting(at now: Timestamp, only ids: Set<Int64>? = nil) async throws {
        let listed = ids.map { JSONText.array($0.map { .integer(Int($0)) }).text }
        try await writer.write { db in
            try db.execute(
                sql: """
                    UPDATE sync_outbox SET next_attempt_at = ?1
                    WHERE state = \(OutboxState.waiting.sql) AND next_attempt_at > ?1 AND error_class IS NOT 'throttled'
                      AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))
                    """,
                arguments: [now.milliseconds, listed])
        }
    }
}
