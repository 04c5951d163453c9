internal import EntitySchema
internal import GRDB
internal import JSONText

/// What kinds of entries the change log knows.
package enum ChangeLogKind: String, CaseIterable, Sendable {
    /// Records written by a pull, and local-only ones written here.
    case upserted
    /// Records that are no longer here.
    case deleted
    /// What becomes of a queued change: ready to be sent, being sent, tried in vain, given up, taken by the server,
    /// taken out of the queue without that.
    case queued, uploading, waiting, failed, acknowledged, discarded
    /// A change made here met one made there: decided, or waiting for a person to choose.
    case conflict
    /// The server gave a new record another key.
    case renamed
    /// A reminder of the record fell due, was delivered, snoozed or dismissed.
    case reminder
}

/// Appends to the durable sequence of changes that everyone who watches reads.
///
/// Always called in the transaction of the change itself, so nothing is announced that is not committed.
struct ChangeLog {
    let db: Database
    let at: Timestamp

    /// What came from the server. One row for all the keys, each of which has a number of its own.
    func append(_ kind: ChangeLogKind, entity: String, keys: [String]) throws {
        guard !keys.isEmpty else { return }
        try insert(kind, entity, keys: keys, fields: nil, change: nil, detail: nil)
    }

    /// What was written here and is sent nowhere.
    func append(
        saved key: String, of entity: String, fields: [String], detail: [(key: String, value: JSONText)]
    ) throws {
        try insert(
            .upserted, entity, keys: [key], fields: fields, change: nil, detail: .object(members: detail))
    }

    func append(_ reminder: Reminder) throws {
        try insert(
            .reminder, reminder.entity, keys: [reminder.key], fields: nil, change: nil,
            detail: .object([ChangeLogKind.reminder.rawValue: reminder.document]))
    }

    /// A step of one queued change; `fields` are those that it sets. Returns the entry's number.
    @discardableResult
    func append(
        _ kind: ChangeLogKind, change: Int64, entity: String, key: String, fields: [String]? = nil,
        detail: [(key: String, value: JSONText)] = []
    ) throws -> Int64 {
        try insert(
            kind, entity, keys: [key], fields: fields?.isEmpty == true ? nil : fields, change: change,
            detail: detail.isEmpty ? nil : .object(members: detail))
        return db.lastInsertedRowID
    }

    /// The same of a row of the queue with `id`, `entity`, `record_key` and `body`.
    func append(
        _ kind: ChangeLogKind, _ change: Row, detail: [(key: String, value: JSONText)] = []
    ) throws {
        try append(
            kind, change: change["id"], entity: change["entity"], key: change["record_key"],
            fields: JSONText(parsing: change["body"] as String).members.map(\.key), detail: detail)
    }

    /// How a record's only key stands in `keys`.
    static func keys(_ keys: [String]) -> String { JSONText.array(keys.map(JSONText.string)).text }

    private func insert(
        _ kind: ChangeLogKind, _ entity: String, keys: [String], fields: [String]?, change: Int64?, detail: JSONText?
    ) throws {
        // The last number of the row's own run: one for each key. Pruning leaves the last row, so no number comes twice.
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_change_log (seq, at, kind, entity, keys, fields, change_id, detail)
                VALUES (coalesce((SELECT max(seq) FROM sync_change_log), 0) + ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            keys.count, at.milliseconds, kind.rawValue, entity, Self.keys(keys), fields.map(Self.keys), change,
            detail?.text,
        ])
    }
}

/// Why a change is queued or left the queue, where the kind alone does not tell; part of an entry's detail.
enum ChangeLogReason: String {
    /// Queued by an edit, by a person who corrected it or wants it tried again, after an attempt that sent nothing,
    /// after the process died while it was sent, or because it came from another database.
    case edited, corrected, retried, notSent = "not_sent", interrupted, carried
    /// Discarded by a person, by a later deletion here, or by what merging or a person's choice decided.
    case asked, superseded, merged
    /// A conflict was met, decided by a person, or its other choice queued.
    case found, resolved, undone

    var member: (key: String, value: JSONText) { ("reason", .string(rawValue)) }
}
