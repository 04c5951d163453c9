internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Every transition of a queued change from one state to another, one function each.
///
/// `OutboxState.Transition.rule` says which are allowed; no other code sets `sync_outbox.state`.
extension OutboxTable {
    private typealias Transition = OutboxState.Transition

    // MARK: Attempts

    /// Records an attempt before it is made. False when the change is not as it was read: it left the queue, is being
    /// sent, was tried since, or has another body, key or content.
    func begin(
        _ change: OutboxChange, in table: EntityTable, at now: Timestamp, isLookUp: Bool = false
    ) throws -> Bool {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET \(Self.begun), tried = tried + 1,
                  first_attempt_at = iif(tried = 0, ?2, coalesce(first_attempt_at, last_attempt_at, ?2)),
                  last_attempt_at = iif(?6, coalesce(last_attempt_at, ?2), ?2), next_attempt_at = NULL,
                  known_pk = coalesce(known_pk, (SELECT max(_pk) FROM \(table.name)))
                WHERE id = ?1 AND \(Self.canBegin) AND tried = ?3 AND body = ?4 AND record_key = ?5 AND content IS ?7
                """
        ).execute(arguments: [
            change.id, now.milliseconds, change.tried, change.storedBody.text, change.key, isLookUp,
            change.content?.column,
        ])
        return db.changesCount > 0
    }

    /// Notes that the attempt goes out in a batch that does not carry the change's own key, so that a repeat under that
    /// key is no repeat to the upstream.
    func hideKey(_ id: Int64) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET idempotency_key = '\(OutboxChange.hiddenKeyMark)' || idempotency_key
                WHERE id = ? AND idempotency_key NOT GLOB '\(OutboxChange.hiddenKeyMark)*'
                """
        ).execute(arguments: [id])
    }

    /// Gives a change that was sent another key, under which the upstream does not know it: a repeat is none to the upstream.
    func giveUnknownKey(_ key: String, to id: Int64) throws {
        try db.cachedStatement(sql: "UPDATE sync_outbox SET idempotency_key = ? WHERE id = ?")
            .execute(arguments: [OutboxChange.hidden(key), id])
    }

    /// Undoes the attempt: no byte of it was sent, or the upstream applied nothing of it.
    func takeBack(_ id: Int64) throws {
        try db.cachedStatement(sql: Self.takeBackSQL).execute(arguments: [id])
        try requireChanged(id, .takeBack)
    }

    /// `counted`: the attempt counts towards the limit. `takingBack`: the upstream applied nothing of it, so the change is
    /// as likely to have arrived as before.
    func postpone(
        _ id: Int64, _ failure: PushFailure, until next: Timestamp, counted: Bool, takingBack: Bool = false
    ) throws {
        try end(id, .postpone, takingBack ? Self.postponeUnsentSQL : Self.postponeSQL, failure, next, counted)
    }

    /// `takingBack`: as for `postpone`.
    func fail(_ id: Int64, _ failure: PushFailure, takingBack: Bool) throws {
        try end(id, .fail, takingBack ? Self.failUnsentSQL : Self.failSQL, failure, nil, true)
    }

    /// Makes the change ready again; `failure` says that the server no longer has the record.
    func requeue(_ id: Int64, _ failure: PushFailure) throws {
        try end(id, .requeue, Self.requeueSQL, failure, nil, true)
    }

    private func end(
        _ id: Int64, _ transition: OutboxState.Transition, _ sql: String, _ failure: PushFailure, _ next: Timestamp?,
        _ counted: Bool
    ) throws {
        try db.cachedStatement(sql: sql).execute(arguments: [
            id, next?.milliseconds, counted ? 1 : 0, failure.errorClass.rawValue, failure.status, failure.message,
        ])
        try requireChanged(id, transition)
    }

    /// Makes changes ready again if their attempts ended without an outcome; nil means all. Returns `id`, `entity`,
    /// `record_key`, `body` and `content` of each.
    func recover(_ ids: Set<Int64>?) throws -> [Row] {
        let condition = ids.map { " AND id IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        return try Row.fetchAll(
            db,
            sql: """
                UPDATE sync_outbox SET \(Transition.recover.assignment) WHERE \(Transition.recover.condition)\(condition)
                RETURNING id, entity, record_key, body, content
                """)
    }

    // MARK: Users

    /// Makes one failed or waiting change ready, or with nil every failed one. A change whose outcome was unclear
    /// counts as never tried: the user has checked. Returns the ids alone: together the changes can be larger than the memory.
    func retry(_ id: Int64?) throws -> [Int64] {
        try Int64.fetchAll(
            db,
            sql: """
                UPDATE sync_outbox SET \(Transition.retry.assignment), next_attempt_at = NULL, attempt_count = 0,
                  tried = iif(error_class = 'unclear', 0, tried)
                WHERE state = \(OutboxState.failed.sql) AND ?1 IS NULL OR id = ?1 AND \(Transition.retry.condition)
                RETURNING id
                """,
            arguments: [id])
    }

    /// `id`, `entity`, `record_key`, `body` and `content` of a change.
    func row(_ id: Int64) throws -> Row {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, entity, record_key, body, content FROM sync_outbox WHERE id = ?"),
            arguments: [id])
        guard let row else { throw Self.notPending(id) }
        return row
    }

    /// Gives a failed change, or with nil every one, a new idempotency key if the server applied nothing of it: under the old
    /// one some servers repeat their refusal. After a lost answer an edit is refused only if its record does not show it.
    func renewKeys(ofFailed id: Int64?, makeID: () -> String) throws {
        let refused = try Int64.fetchAll(
            db,
            sql: """
                SELECT id FROM sync_outbox WHERE state = \(OutboxState.failed.sql) AND (?1 IS NULL OR id = ?1)
                  AND (tried = 0 OR operation = 'update' AND error_class = '\(ErrorClass.refused.rawValue)')
                """,
            arguments: [id])
        for id in refused { try giveKey(makeID(), to: id) }
    }

    /// Replaces the change by `edited`, which counts as never tried. A change that was sent gets the new idempotency
    /// key, since the server may have the old body under the old key, or a refusal.
    func edit(_ id: Int64, to edited: NewChange) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET body = ?2, base = ?3, edited = ?4, order_group = ?5,
                  idempotency_key = iif(\(Self.hasUsedKey), ?6, idempotency_key), \(Transition.edit.assignment),
                  \(Self.untried), sent = ?7, trace = coalesce(?8, trace)
                WHERE id = ?1 AND \(Transition.edit.condition)
                """
        ).execute(arguments: [
            id, edited.body.text, edited.base.text, edited.edited.text, edited.group, edited.idempotencyKey,
            edited.sent?.text, trace?.stored,
        ])
        try requireChanged(id, .edit)
    }

    /// Gives a creation the content that it carries, or takes it from it. The server has nothing of the change, so it
    /// counts as never tried; if it was refused, it gets the new idempotency key.
    func attach(_ content: String?, to change: Entry, idempotencyKey: String) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET content = ?2, idempotency_key = iif(\(Self.hasUsedKey), ?3, idempotency_key),
                  \(Transition.edit.assignment), \(Self.untried), trace = coalesce(?4, trace)
                WHERE id = ?1 AND \(Transition.edit.condition)
                """
        ).execute(arguments: [change.id, content, idempotencyKey, trace?.stored])
        try requireChanged(change.id, .edit)
        try ContentTable(db: db).countQueued(change.content, -1)
        try ContentTable(db: db).countQueued(content, 1)
    }

    // MARK: Merging

    /// Makes the change create its record, which the server no longer has. It counts as never sent.
    func recreate(_ id: Int64, body: JSONText, idempotencyKey: String) throws {
        let content = try change(id).content
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET operation = 'create', body = ?2, base = '{}', idempotency_key = ?3,
                  \(Transition.recreate.assignment), content = NULL, \(Self.untried), sent = NULL
                WHERE id = ?1 AND \(Transition.recreate.condition)
                """
        ).execute(arguments: [id, body.text, idempotencyKey])
        try requireChanged(id, .recreate)
        try ContentTable(db: db).countQueued(content, -1)
    }

    /// Makes a refused creation an edit of the record, which is there. It counts as never sent.
    func revive(_ id: Int64, body: JSONText, base: JSONText, idempotencyKey: String) throws {
        try db.cachedStatement(
            sql: """
                UPDATE sync_outbox SET operation = 'update', body = ?2, base = ?3, idempotency_key = ?4,
                  \(Transition.revive.assignment), \(Self.untried), sent = NULL
                WHERE id = ?1 AND \(Transition.revive.condition)
                """
        ).execute(arguments: [id, body.text, base.text, idempotencyKey])
        try requireChanged(id, .revive)
    }

    // MARK: Parts

    /// Whether an attempt has begun under its idempotency key, also one that was taken back.
    private static let hasUsedKey = "tried > 0 OR last_attempt_at IS NOT NULL"
    private static let begun = Transition.begin.assignment
    private static let canBegin = Transition.begin.condition
    /// As if there had been no attempt.
    private static let untried = """
        tried = 0, attempt_count = 0, known_pk = NULL, next_attempt_at = NULL,
          error_class = NULL, error_status = NULL, error_message = NULL
        """
    /// Undoes what the attempt noted. An earlier one stays as it is.
    private static let untry = """
        tried = max(tried - 1, 0), known_pk = iif(tried <= 1, NULL, known_pk),
          idempotency_key = iif(tried <= 1, replace(idempotency_key, '\(OutboxChange.hiddenKeyMark)', ''), idempotency_key)
        """
    private static let takeBackSQL = """
        UPDATE sync_outbox SET \(Transition.takeBack.assignment), \(untry)
        WHERE id = ? AND \(Transition.takeBack.condition)
        """
    private static let postponeSQL = endSQL(.postpone)
    private static let postponeUnsentSQL = endSQL(.postpone, ", \(untry)")
    private static let failSQL = endSQL(.fail)
    private static let failUnsentSQL = endSQL(.fail, ", \(untry)")
    private static let requeueSQL = endSQL(.requeue)

    private static func endSQL(_ transition: OutboxState.Transition, _ more: String = "") -> String {
        """
        UPDATE sync_outbox SET \(transition.assignment)\(more), next_attempt_at = ?2, attempt_count = attempt_count + ?3,
          error_class = ?4, error_status = ?5, error_message = ?6 WHERE id = ?1 AND \(transition.condition)
        """
    }

    /// Throws `.notFound` when the last UPDATE found no change, `.conflict` when its state does not allow the
    /// transition.
    private func requireChanged(_ id: Int64, _ transition: OutboxState.Transition) throws {
        guard db.changesCount == 0 else { return }
        let state = try change(id).state.rawValue
        throw CacheError.conflict("change \(id) is \(state), so \(transition) is not possible")
    }
}
