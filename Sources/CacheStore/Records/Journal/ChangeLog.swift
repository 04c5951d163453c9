internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The kinds of entries in the change log.
package enum ChangeLogKind: String, CaseIterable, Sendable {
    /// Records written by a pull, and local-only records written here.
    case upserted
    /// Records that are gone.
    case deleted
    /// The steps of a queued change: ready to send, being sent, failed and to be retried, failed permanently,
    /// acknowledged by the server, removed from the queue without that.
    case queued, uploading, waiting, failed, acknowledged, discarded
    /// A local change and a change on the server collided: resolved, or waiting for a user.
    case conflict
    /// The server gave a new record another key.
    case renamed
    /// A reminder of the record became due, or was delivered, snoozed or dismissed.
    case reminder
}

/// Appends to the durable sequence of changes that every watcher reads.
///
/// Always called in the transaction of the change itself, so nothing is announced that is not committed.
struct ChangeLog {
    let records: RecordTransaction
    let at: Timestamp

    private var db: Database { records.db }

    /// Appends an entry for what came from the server: one row for all keys, with a number for each key.
    ///
    /// `reason`: why, if the kind alone does not say.
    func append(_ kind: ChangeLogKind, entity: String, keys: [String], reason: ChangeLogReason? = nil) throws {
        guard !keys.isEmpty else { return }
        try insert(kind.rawValue, entity, keys: keys, detail: reason.map { .object(members: [$0.member]) })
    }

    /// Appends an entry for a local-only write.
    func append(
        saved key: String, of entity: String, fields: [String], detail: [(key: String, value: JSONText)]
    ) throws {
        try insert(
            ChangeLogKind.upserted.rawValue, entity, keys: [key], fields: fields, detail: .object(members: detail))
    }

    /// In bytes, of what an entry has of a reminder's text: anyone may snooze it, again and again.
    private static let longestText = 1000

    func append(_ reminder: Reminder) throws {
        var reminder = reminder
        reminder.text = reminder.text.cut(toBytes: Self.longestText)
        try insert(
            ChangeLogKind.reminder.rawValue, reminder.entity, keys: [reminder.key],
            detail: .object([ChangeLogKind.reminder.rawValue: reminder.document]))
    }

    /// In the detail of an entry for a change that was merged into another: the id of the other.
    static let carrier = "carrier"

    /// In the log, but not in `ChangeLogKind`: entries that only hooks read.
    static let hookKind = "hook"

    /// Appends an entry for the hooks that get an event; none if there are none. `key` is empty for an event that
    /// is about no record.
    func append(_ event: HookEvent, entity: String, key: String, hooks: [String]) throws {
        guard !hooks.isEmpty else { return }
        try insert(
            Self.hookKind, entity, keys: [key],
            detail: .object(["event": .string(event.rawValue), "hooks": .array(of: hooks)]))
    }

    /// Appends a step of one queued change; `fields` are the fields that it sets. Returns the entry's number.
    @discardableResult
    func append(
        _ kind: ChangeLogKind, change: Int64, entity: String, key: String, fields: [String]? = nil,
        detail: [(key: String, value: JSONText)] = []
    ) throws -> Int64 {
        try insert(
            kind.rawValue, entity, keys: [key], fields: fields?.isEmpty == true ? nil : fields, change: change,
            detail: detail.isEmpty ? nil : .object(members: detail))
    }

    /// Appends that a change is ready to send again: a row of the queue with `id`, `entity`, `record_key` and `body`.
    func append(queuedAgain change: Row, _ reason: ChangeLogReason) throws {
        try append(
            .queued, change: change["id"], entity: change["entity"], key: change["record_key"],
            fields: JSONText(parsing: change["body"] as String).members.map(\.key), detail: [reason.member])
    }

    /// Changes the kind of an entry of this transaction, when more follows from what it records.
    func revise(_ entry: Int64, as kind: ChangeLogKind) throws {
        try db.cachedStatement(sql: "UPDATE sync_change_log SET kind = ? WHERE seq = ?")
            .execute(arguments: [kind.rawValue, entry])
    }

    // MARK: Ids of changes

    /// A column of the last row.
    static func last(_ column: String) -> String {
        "(SELECT \(column) FROM sync_change_log ORDER BY seq DESC LIMIT 1)"
    }

    /// The greatest id that a change has had, or less while that change is in the queue: each id is in an entry at the
    /// latest when its change leaves.
    static let lastChange = "coalesce(\(last("last_change")), 0)"

    /// Makes sure that no change gets an id up to this one.
    func reserve(upTo id: Int64) throws {
        guard id > 0 else { return }
        defer { records.forgetNumbers() }
        try db.execute(
            sql: """
                INSERT INTO sync_change_log (seq, at, kind, entity, keys) SELECT 0, ?, ?, '', '[]'
                WHERE NOT EXISTS (SELECT 1 FROM sync_change_log)
                """,
            arguments: [at.milliseconds, ChangeLogKind.upserted.rawValue])
        try db.execute(
            sql: """
                UPDATE sync_change_log SET last_change = max(last_change, ?)
                WHERE seq = (SELECT max(seq) FROM sync_change_log)
                """,
            arguments: [id])
    }

    /// The content of `keys`: a JSON array.
    static func keys(_ keys: [String]) -> String { JSONText.array(of: keys).text }

    /// Returns the row's number.
    @discardableResult
    private func insert(
        _ kind: String, _ entity: String, keys: [String], fields: [String]? = nil, change: Int64? = nil,
        detail: JSONText?
    ) throws -> Int64 {
        var last = try records.lastNumbers()
        let number = try last.takeEntry(keys.count, about: change)
        try records.with(records.plans.queue.log) { statement in
            try statement.bind(number, to: 1)
            try statement.bind(at.milliseconds, to: 2)
            try statement.bind(kind, to: 3)
            try statement.bind(entity, to: 4)
            try statement.bind(JSONText.array(of: keys), to: 5)
            try statement.bind(fields.map(JSONText.array(of:)), to: 6)
            try statement.bind(change, to: 7)
            try statement.bind(detail, to: 8)
            try statement.bind(last.change, to: 9)
            try statement.bind(last.steps, to: 10)
            try statement.run()
        }
        records.note(last)
        if change != nil, number.isMultiple(of: Self.partLength) { try closePart() }
        return number
    }

    /// About how many entries a part of the log has.
    private static let partLength: Int64 = 512

    /// Notes which records the newest entries about changes are about, so that the history of another need not read
    /// them.
    private func closePart() throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_log_part (last, first, keys)
                SELECT max(seq), min(seq), group_concat(DISTINCT keys) FROM sync_change_log
                WHERE change_id IS NOT NULL AND seq > coalesce((SELECT max(last) FROM sync_log_part), 0)
                """
        ).execute()
    }
}

/// Why a change is queued or left the queue, or a record the cache, if the kind alone does not say; part of an entry's
/// detail.
enum ChangeLogReason: String {
    /// Queued by an edit; corrected by a user or by a later edit; retried by a user; after an attempt that sent
    /// nothing; after the process died while sending it; or by an import from another database.
    case edited, corrected, retried, notSent = "not_sent", interrupted, carried
    /// Discarded by a user, by a later local deletion, or by a merge or a user's choice. (One discarded as `corrected`
    /// was merged into the refused change before it.) A merge may also queue an edit in place of a creation
    /// (`RevivedRecord`).
    case asked, superseded, merged
    /// A conflict was found; resolved by a user; or undone, which queues its other side.
    case found, resolved, undone
    /// The record left the entity's window; the upstream still has it.
    case window

    var member: (key: String, value: JSONText) { ("reason", .string(rawValue)) }
}
