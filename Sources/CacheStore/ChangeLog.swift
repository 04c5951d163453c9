internal import EntitySchema
internal import GRDB
internal import JSONText

/// What kinds of entries the change log knows.
enum ChangeLogKind: String {
    /// Records written by a pull or an acknowledgement.
    case upserted
    case deleted
    /// Changes to the queue, by record.
    case queued, uploading, waiting, failed, acknowledged, discarded
    /// A change made here met one made there: decided, or waiting for a person to choose.
    case conflict
}

/// Appends to the durable sequence of changes that everyone who watches reads.
///
/// Always called in the transaction of the change itself, so nothing is announced that is not committed.
struct ChangeLog {
    let db: Database
    let at: Timestamp

    /// Returns the number of the last entry.
    @discardableResult
    func append(_ kind: ChangeLogKind, entity: String, keys: [String], fields: [String]? = nil) throws -> Int64 {
        guard !keys.isEmpty else { return 0 }
        // The last number of the row's own run: one for each key.
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_change_log (seq, at, kind, entity, keys, fields)
                VALUES (coalesce((SELECT max(seq) FROM sync_change_log), 0) + ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            keys.count, at.milliseconds, kind.rawValue, entity, JSONText.array(keys.map(JSONText.string)).text,
            fields.map { JSONText.array($0.map(JSONText.string)).text },
        ])
        return db.lastInsertedRowID
    }
}
